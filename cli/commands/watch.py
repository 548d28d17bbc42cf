"""Follow a running job: its periods by layer, and the next phase."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..options import BROKEN, CALLS, DIRECTION, ENGINE, FILES, LAYERS, POSITIVE, WORKERS, option
from ..request import Request, as_wrong_usage, command_of, console, refuse, refuse_given, warn

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from ...live.following import Update
    from ...live.job import LiveJob

SOURCES = click.argument("sources", metavar="[SOURCE]...", nargs=-1)
REPLAY = option(
    "--replay TRACE", "Replay a finished trace in place of a source: operations are reported when they end."
)
SPEED = option("--speed N", "With --replay: N times as fast as it ran.  [default: as fast as possible]", type=POSITIVE)
INTERVAL = option(
    "--interval S",
    "Time between updates in s, with --replay of the trace's.  [default: 1; with --replay a hundredth of it]",
    type=click.FloatRange(min=0.01),
)
METHOD = option(
    "--method",
    "What finds periods; ftio also gives intervals of the frequencies found so far, with probabilities.",
    choices=["auto", "ftio"],
    default="auto",
)
RULES = option(
    "--fail-on RULE",
    "End with code 3 at the first alarm of RULE: overdue, slipped or slow, or one with a limit of its own, such "
    "as overdue>1 (periods after the latest expected start), slipped>0.1 (share of the usual period) or slow>0.3 "
    "(share of the usual bandwidth that is missing). Repeatable.",
    "rules",
    multiple=True,
)
JOBS = option(
    "--jobs",
    "Each SOURCE is a job of its own; answers name it, with the priority that Set-10 would give it by its period.",
    "apart",
)
SIGNATURE = option(
    "--signature FILE.json",
    "What earlier runs did, as 'iostrata signature --json' printed it: the next phase is foretold from the first "
    "on. Follows its layer and direction.",
)
METRICS = option(
    "--metrics PORT|HOST:PORT|FILE",
    "Also give all as OpenMetrics text: at http://127.0.0.1:PORT/metrics, at the address of another HOST of this "
    "machine, or in FILE, for Prometheus.",
)
ONCE = option("--once", "Read what is there and end with it.")


@command_of(
    "watch --replay traces.otf2 --speed 10",
    SOURCES, REPLAY, SPEED, INTERVAL, ONCE, JOBS, SIGNATURE, RULES, METRICS, LAYERS, DIRECTION, METHOD,
    FILES, ENGINE, CALLS, WORKERS,
    as_json="Print a JSON object a line on a terminal, too, as in a pipe.",
)  # fmt: skip
def command(
    sources: tuple[str, ...],
    replay: Path | None,
    speed: float | None,
    interval: float | None,
    once: bool,
    apart: bool,
    signature: Path | None,
    rules: tuple[str, ...],
    metrics: str | None,
    layers: tuple[str, ...],
    direction: str | None,
    method: str,
    as_json: bool,
    **reading: Any,
) -> None:
    """SOURCE is a file that grows, a folder of them, unix:PATH or tcp:HOST:PORT to listen at, or - for standard input;
    several are one job, or with --jobs each is one. The guide says what their lines hold: operations or bins of
    them as JSON lines, lines of TMIO, or rates that servers counted as CSV. "iostrata record --live -- COMMAND" runs a
    program that writes them, and prints the line to type here.

    After every update each layer and direction says whether a phase is under way, its period in s with the confidence
    in it (0 to 1) and since when it holds, and between which times the next phase begins, with the probability of that.
    Of fewer than four phases there is a period only where what they move repeats. On a terminal this is a view that
    keeps up to date, in a pipe one JSON object a line. The periods are those that "iostrata periods" finds. There is no
    --window and no --fs, as the stretch and the bins that are looked at follow from the job.
    """
    _refuse_what_does_not_go_together(sources, replay, speed, once, apart, signature, reading)
    from ...live.alarms import parse_rule
    from ...model.errors import SelectionError

    with as_wrong_usage(SelectionError):
        limits = dict(map(parse_rule, rules))
    jobs = _jobs(sources if apart else (None,), layers, direction, method, limits, signature, replay is None)
    if replay is None:
        names = [(one,) for one in sources] if apart else [sources]
        updates = _followed(list(zip(jobs, names, strict=True)), interval, once)
    else:
        from ...live.following import replay as replayed

        updates = replayed(jobs[0], Request(replay, layers, **reading).open(), interval, speed)
    broken: list[str] = []
    if metrics is not None:
        from ...export.openmetrics import published

        updates = published(updates, metrics)
    if limits:
        updates = _until_broken(updates, limits, broken)
    shown = console().is_terminal
    if as_json or not shown:
        _print(updates)
    else:
        from ...export.terminal.watch import show_updates

        show_updates(updates, console(), jobs[0].intake.program or ", ".join(map(str, sources or (replay,))))
    if broken:
        warn(broken[0])
        raise click.exceptions.Exit(BROKEN)
    for place, job in enumerate(jobs if replay is None else ()):
        _finish(job, sources[place : place + 1] if apart else sources, shown)


def _refuse_what_does_not_go_together(
    sources: tuple[str, ...],
    replay: Path | None,
    speed: float | None,
    once: bool,
    apart: bool,
    signature: Path | None,
    reading: "Mapping[str, Any]",
) -> None:
    """Refuse options of replays with sources, those of sources with replays, and what a signature chooses."""
    wrong = {
        "name what to follow, or a trace with --replay": bool(sources) == (replay is not None),
        "--speed is of --replay: a job that runs has its own": speed is not None and replay is None,
        "--once is of sources: a trace that is replayed has ended": once and replay is not None,
        "--jobs is of sources: a trace that is replayed is one job": apart and replay is not None,
    }
    refuse(wrong)
    if signature is not None:
        refuse_given("is chosen by --signature", "layers", "direction")
    if replay is None:
        refuse_given("is of --replay: the lines of a source tell nothing of that", *reading)


def _jobs(
    names: "Sequence[str | None]",
    layers: tuple[str, ...],
    direction: str | None,
    method: str,
    limits: dict[str, float],
    signature: Path | None,
    running: bool,
) -> "list[LiveJob]":
    """Return a job for each name, which share what following may take; a signature has its own layer and direction."""
    from ...live.budget import SHARE
    from ...live.job import LiveJob

    known = None
    if signature is not None:
        from ...analysis.known_signature import read_signature

        known = read_signature(signature)
        layers, direction = () if known.layer is None else (known.layer,), known.direction
    # Beside a trace that is replayed no job runs that following it could disturb.
    share = SHARE / len(names) if running else None
    return [LiveJob(frozenset(layers), share, method, direction, limits, name, known) for name in names]


def _print(updates: "Iterable[Update]") -> None:
    """Print each answer as a line of JSON."""
    from json import dumps

    for update in updates:
        for answer in update.answers:
            click.echo(dumps(update.line(answer), allow_nan=False))


def _until_broken(updates: "Iterator[Update]", kinds: "Container[str]", broken: list[str]) -> "Iterator[Update]":
    """Give updates up to the first with an alarm of some kinds, which goes to `broken`."""
    for update in updates:
        yield update
        for answer in update.answers:
            found = (one.text for one in answer.alarms or () if one.kind in kinds)
            name = f"{answer.job}: " if answer.job is not None else ""
            broken += [f"{name}{answer.layer} {answer.direction}: {text}" for text in found]
        if broken:
            return


def _finish(job: "LiveJob", names: tuple[str, ...], shown: bool) -> None:
    """Check what came of the sources, and warn of what was wrong with it where that is not `shown`."""
    if not job.intake.keys:
        _refuse_ended(names)
    job.check()
    told = job.intake.counts.sentence()
    if not told and not job.moved:
        told = "Nothing that is followed moved a byte." if job.intake.keys else "Nothing was told."
    if told and not shown:
        warn(f"{told[0].lower()}{told[1:].rstrip('.')}")


def _refuse_ended(names: tuple[str, ...], binary: bool = False) -> None:
    """Raise TraceError where a source is what a recorder wrote at a job's end; `binary` ones only, if so asked."""
    from ...inputs.recognition import find_recorder
    from ...model.errors import TraceError

    for path in map(Path, names):
        # Lines that grow may be those of a recorder, too, but have no byte of zero.
        archive = "OTF2" if path.is_dir() and any(path.glob("*.otf2")) else None
        writer = archive if (recorder := find_recorder(path)) is None else recorder.name
        if writer and (not binary or (path.is_file() and _has_zeros(path))):
            raise TraceError(f"{path}: {writer} wrote it of a job that has ended; give it to --replay")


def _has_zeros(path: Path) -> bool:
    with path.open("rb") as file:
        return b"\0" in file.read(4096)


def _followed(jobs: "list[tuple[LiveJob, tuple[str, ...]]]", interval: float | None, once: bool) -> "Iterator[Update]":
    from ...live.following import follow_jobs
    from ...live.sources import LateSource, open_source

    for _, names in jobs:
        _refuse_ended(names, binary=True)
    followed = [(job, [open_source(name, job.intake, wait=not once) for name in names]) for job, names in jobs]
    for (_, names), (_, sources) in zip(jobs, followed, strict=True):
        for name, source in zip(names, sources, strict=True):
            if isinstance(source, LateSource):
                warn(f"{name} is not there yet; waiting for it")
    return follow_jobs(followed, interval or 1.0, once=once)
