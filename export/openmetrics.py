"""What `watch` tells as OpenMetrics text, for Prometheus: over HTTP, or in a file for a collector of text files."""

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Final

from ..live.alarms import LIMITS
from ..live.answer import Answer
from ..live.following import Update
from ..model.errors import OutputError
from .atomic import atomic_file

_SILENT_PERIODS: Final = 10.0
_SILENT_S: Final = 3600.0
"""A job is taken as dead that moved nothing for so many of its periods, at least so many seconds: few programs compute
longer between two phases of I/O, and its series begin again with the next byte."""
_CLIENT_S: Final = 5.0
"""How long a client may take; the next one waits meanwhile."""
CONTENT_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_Values = Callable[[Answer], Iterable[tuple[tuple[tuple[str, str], ...], float | None]]]


@dataclass(frozen=True)
class _Family:
    """A family of series: its name without the prefix, type, unit and sentence, and the values of an answer."""

    name: str
    type: str
    unit: str
    help: str
    values: _Values


def _one(value: Callable[[Answer], float | None]) -> _Values:
    return lambda answer: [((), value(answer))]


def _next(answer: Answer) -> Iterator[tuple[tuple[tuple[str, str], ...], float | None]]:
    for bound, start in zip(("earliest", "latest"), answer.next_start or (), strict=False):
        yield (("bound", bound),), start - answer.time


def _alarms(answer: Answer) -> Iterator[tuple[tuple[tuple[str, str], ...], float | None]]:
    found = {one.kind for one in answer.alarms or ()}
    for kind in LIMITS:
        yield (("kind", kind),), float(kind in found)


_FAMILIES: Final = (
    _Family("job_time_seconds", "gauge", "seconds", "Time on the job's clock.", _one(lambda of: of.time)),
    _Family("moved_bytes", "counter", "bytes", "Bytes moved so far.", _one(lambda of: of.bytes)),
    _Family("operations", "counter", "", "Transfers so far.", _one(lambda of: of.operations)),
    _Family("phases", "counter", "", "Phases of I/O so far.", _one(lambda of: of.phases)),
    _Family("in_phase", "gauge", "", "Whether a phase is under way.", _one(lambda of: float(of.in_phase))),
    _Family("period_seconds", "gauge", "seconds", "Period of the latest regime.", _one(lambda of: of.period)),
    _Family(
        "period_confidence_ratio", "gauge", "ratio", "That the period lies within 10 % of the truth.",
        _one(lambda of: of.confidence if of.periodic else None),
    ),
    _Family("next_phase_seconds", "gauge", "seconds", "Until the next phase begins, from and to.", _next),
    _Family(
        "next_phase_probability_ratio", "gauge", "ratio", "That the next phase begins between these.",
        _one(lambda of: of.probability),
    ),
    _Family("alarm", "gauge", "", "Whether an alarm of a kind holds.", _alarms),
)  # fmt: skip
Key = tuple[str, str, str]
"""Job, layer and direction."""


class Exposition:
    """The text of the latest update; series of a job that has ended are not in it any more."""

    def __init__(self) -> None:
        self._latest: dict[Key, Answer] = {}
        self._bandwidth: dict[Key, float] = {}
        self._moved: dict[Key, float] = {}
        """Time at which something moved last."""
        self.text = _text({}, {})

    def take(self, update: Update) -> None:
        """Take in an update."""
        shown: dict[Key, Answer] = {}
        for answer in () if update.last else update.answers:
            key = answer.job or "", answer.layer, answer.direction
            before = self._latest.get(key)
            if before is None or answer.bytes != before.bytes:
                self._moved[key] = answer.time
            # The clock of a job goes on until its input is over.
            if before is not None and answer.time > before.time:
                self._bandwidth[key] = (answer.bytes - before.bytes) / (answer.time - before.time)
            self._latest[key] = answer
            if before is None or answer.time > before.time:
                shown[key] = answer
        alive = {job for (job, *_), answer in shown.items() if not self._is_silent(job, answer)}
        self.text = _text({key: one for key, one in shown.items() if key[0] in alive}, self._bandwidth)

    def _is_silent(self, job: str, answer: Answer) -> bool:
        own = [key for key in self._latest if key[0] == job]
        moved = max(self._moved[key] for key in own)
        longest = max((self._latest[key].period or 0.0 for key in own), default=0.0)
        return answer.time - moved > max(_SILENT_S, _SILENT_PERIODS * longest)


def _text(answers: dict[Key, Answer], bandwidth: dict[Key, float]) -> str:
    rates = _Family(
        "bandwidth_bytes_per_second", "gauge", "", "Bytes per second since the update before.",
        lambda of: [((), bandwidth.get((of.job or "", of.layer, of.direction)))],
    )  # fmt: skip
    lines = []
    for family in (*_FAMILIES, rates):
        name = f"iostrata_{family.name}"
        lines += [f"# TYPE {name} {family.type}", *([f"# UNIT {name} {family.unit}"] if family.unit else [])]
        lines.append(f"# HELP {name} {family.help}")
        suffix = "_total" if family.type == "counter" else ""
        for (job, layer, direction), answer in answers.items():
            labels = (*((("job_name", job),) if job else ()), ("layer", layer), ("direction", direction))
            for more, value in family.values(answer):
                if value is not None:
                    told = ",".join(f'{label}="{_escaped(of)}"' for label, of in (*labels, *more))
                    lines.append(f"{name}{suffix}{{{told}}} {value!r}")
    return "\n".join([*lines, "# EOF", ""])


def _escaped(value: str) -> str:
    shown = value.encode(errors="replace").decode().replace("\\", r"\\").replace('"', r"\"")
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", shown.replace("\n", r"\n"))


def published(updates: Iterable[Update], where: str) -> Iterator[Update]:
    """Give updates, each once it is published: at a port of this machine, at ``HOST:PORT``, or in a file.

    At the end the file holds no series, and the port is closed. Raises OutputError where neither is to be had.
    """
    exposition = Exposition()
    address = _address(where)
    if address is None:
        try:
            for update in updates:
                exposition.take(update)
                _write(Path(where), exposition.text)
                yield update
        finally:
            _write(Path(where), Exposition().text)
        return
    with _server(address, exposition) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            for update in updates:
                exposition.take(update)
                yield update
        finally:
            server.shutdown()


def _address(where: str) -> tuple[str, int] | None:
    """Return host and port; None of a file."""
    found = re.fullmatch(r"(?:([\w.-]+|\[[0-9a-fA-F:.]+\]):)?(\d{1,5})", where, re.ASCII)
    if found is None:
        return None
    return (found[1] or "127.0.0.1").strip("[]"), int(found[2])


def _write(path: Path, text: str) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        # Its reader is another user.
        temporary.chmod(0o644)


def _server(address: tuple[str, int], exposition: Exposition) -> HTTPServer:
    class Handler(BaseHTTPRequestHandler):
        timeout = _CLIENT_S

        def do_GET(self) -> None:
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(404)
                return
            text = exposition.text.encode()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: stderr is for warnings."""

    try:
        return HTTPServer(address, Handler)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"cannot listen at {address[0]}:{address[1]}: {reason}; choose another port") from None
