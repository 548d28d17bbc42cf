"""Runs commands of iostrata in this process on an archive that may be anything, and looks at all that comes out."""

import gc
import io
import json
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

CHEAP: Final = (
    ("info",),
    ("info", "--json"),
    ("layers",),
    ("layers", "--json"),
    ("handles",),
    ("handles", "--json"),
)
"""Commands that take some milliseconds each on a small archive."""

SOUND: Final = Path(__file__).parents[2] / "fixtures" / "serial1"
"""What commands that take two traces compare with."""

MOST: Final = (
    *CHEAP,
    ("layers", "--by", "file", "--files", "all"),
    ("layers", "--by", "handle", "--json"),
    ("layers", "--by", "rank", "--memory", "300M"),
    ("layers", "--by", "function", "--engine", "direct"),
    ("handles", "--memory", "300M", "--files", "all"),
    ("periods",),
    ("periods", "--json", "--by", "rank"),
    ("compare",),
    ("compare", "--json", "--files", "all"),
    ("compare", "--json", "--memory", "300M"),
    ("convert", "{out}.parquet"),
    ("convert", "{out}.perfetto.json"),
    ("convert", "{out}.otf2"),
    ("report", "-o", "{out}.html", "--files", "all"),
)

ALL: Final = (
    *MOST,
    ("convert", "{out}.h5"),
    ("convert", "{out}.nc", "--memory", "300M", "--files", "all"),
)
"""Also those that take seconds."""

TURNS: Final = (
    *((1.0, (command,)) for command in (("info", "--json"), ("layers",), ("handles", "--json"))),
    (0.125, (("info",), ("layers", "--json"), ("handles",))),
    (0.1, (("layers", "--memory", "300M"), ("layers", "--engine", "library", "--json", "--files", "all"))),
    *(
        (0.05, (("layers", "--by", part, "--files", "all", *form),))
        for part, form in (
            *(("file", ()), ("file", ("--json", "--memory", "300M")), ("filesystem", ()), ("rank", ("--json",))),
            *(("rank", ("--memory", "300M")), ("node", ("--json",)), ("handle", ()), ("handle", ("--json",))),
            *(("function", ("--engine", "direct")), ("function", ("--json",))),
        )
    ),
    (0.1, (("handles", "--memory", "300M", "--files", "all"), ("handles", "--layer", "POSIX", "--engine", "library"))),
    (0.05, (("periods", "--files", "all"), ("periods", "--json", "--by", "rank"))),
    (0.05, (("periods", "--json", "--by", "file"), ("periods", "--traffic", "own", "--method", "ftio", "--fs", "10"))),
    (0.015, (("periods", "--json", "--method", "ftio", "--components", "3"), ("periods", "--window", "1:7.5"))),
    (0.05, (("periods", "--memory", "300M"),)),
    (0.0015, (("periods", "--plot", "{out}.svg"),)),
    (0.05, (("compare",), ("compare", "--json", "--files", "all"))),
    (0.05, (("compare", "--json", "--memory", "300M"), ("compare", "--window", "0.3:2", "--engine", "library"))),
    (0.1, (("report", "-o", "{out}.html", "--files", "all"),)),
    (0.05, (("report", "-o", "{out}.html", "--memory", "300M"),)),
    (0.1, (("convert", "{out}.parquet"),)),
    (0.05, (("convert", "{out}.parquet", "--memory", "300M", "--window", "0:3"),)),
    (0.05, (("convert", "{out}.perfetto.json"),)),
    (0.05, (("convert", "{out}.perfetto.json", "--memory", "300M", "--files", "all"),)),
    (0.1, (("convert", "{out}.otf2"),)),
    (0.1, (("convert", "{out}.otf2", "--rewrite"),)),
    (0.05, (("convert", "{out}.ftio.jsonl", "--layer", "POSIX", "--files", "all"),)),
    (0.0075, (("convert", "{out}.h5"),)),
    (0.005, (("convert", "{out}.h5", "--memory", "300M", "--files", "all"),)),
    (0.0015, (("convert", "{out}.nc"),)),
    (0.01, (("diff", "{sound}", "-o", "{out}.html"), ("diff", "{sound}", "--json", "--memory", "1M"))),
    (0.01, (("signature", "{sound}", "--json"), ("signature", "{sound}", "-o", "{out}.html"))),
    (0.015, (("assess", "--json", "--segment", "1"), ("assess", "-o", "{out}.html"))),
)
"""Commands, each group with the share of the archives that it is run on, so that all take a tenth of a second each."""


COPIES: Final = (("convert", "{out}.otf2"), ("convert", "{out}.otf2", "--rewrite"))
"""What writes another archive."""


def turns(number: int) -> tuple[tuple[str, ...], ...]:
    """Return the commands of `TURNS` that are run on the archive of a number."""
    chance = random.Random(f"commands of {number}")
    return tuple(command for share, group in TURNS if chance.random() < share for command in group)


_MOST_PRINTED: Final = 2**26
_CONTROL: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What a terminal could take for a command, and what turns text round or breaks lines; lines end in ``\\n``."""


def faults(folder: Path, commands: tuple[tuple[str, ...], ...], room: Path) -> list[str]:
    """Run `commands` on the archive in `folder`; return what is wrong with how they end or what they write.

    Parameters
    ----------
    room : Path
        A folder for what they write.
    """
    return [
        f"{' '.join(command)}: {fault}"
        for command in commands
        for fault in _faults_of(folder, command, room / "written")
    ]


def _faults_of(folder: Path, command: tuple[str, ...], out: Path) -> list[str]:
    arguments = [command[0], str(folder), *(part.format(out=out, sound=SOUND) for part in command[1:])]
    target = next((Path(part.format(out=out)) for part in command if "{out}" in part), None)
    status, printed, said = run_command(arguments)
    if status is None:
        return [f"TRACEBACK {said}"]
    found = []
    lines = said.splitlines()
    if status not in (0, 1):
        found.append(f"exit code {status}: {said[:200]!r}")
    elif status == 1 and (printed or not _is_failure(lines)):
        found.append(f"a failure that says {said[:200]!r} and prints {printed[:100]!r}")
    elif status == 0 and not all(line.startswith(("iostrata: warning: ", "iostrata: note: ")) for line in lines):
        found.append(f"success that says {said[:200]!r}")
    if _CONTROL.search(said) or _CONTROL.search(printed):
        where = said if _CONTROL.search(said) else printed
        at = _CONTROL.search(where)
        found.append(f"control characters at {where[max(0, at.start() - 20) : at.end() + 20]!r}" if at else "")
    if status == 0 and "--json" in command:
        found += _call(lambda: _strict_json(printed))
    if target is not None:
        left = [path for path in out.parent.iterdir() if path.name.startswith((out.name, f".{out.name}"))]
        if status == 0:
            anew = target.suffix == ".otf2" and ("--rewrite" in command or not any(folder.glob("*.otf2")))
            reader = _read_rewritten_otf2 if anew else READERS[target.suffix]
            found += _call(lambda: reader(target, folder))
        elif left:
            found.append(f"{left[0].name} is left behind")
        for path in left:
            _remove(path)
    return found


def _is_failure(lines: list[str]) -> bool:
    """Tell whether warnings and one error are all that is said."""
    warned = all(line.startswith("iostrata: warning: ") for line in lines[:-1])
    return bool(lines) and warned and lines[-1].startswith("iostrata: error: ")


def run_command(arguments: list[str]) -> tuple[int | None, str, str]:
    """Run iostrata; give its exit code, what it printed and said; None and the error in place of a traceback."""
    from iostrata.cli import main

    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2)]
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams
    try:
        status: int | None = main(arguments)
        said = None
    except BaseException as error:  # noqa: BLE001 - whatever comes is a finding
        at = traceback.extract_tb(error.__traceback__)[-1]
        status, said = None, f"{type(error).__name__}: {str(error)[:200]} at {Path(at.filename).name}:{at.lineno}"
    finally:
        sys.stdout, sys.stderr = before
    printed, errors = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    return status, printed, errors if said is None else said


def _call(check: Callable[[], None]) -> list[str]:
    try:
        check()
    except Exception as error:  # noqa: BLE001 - whatever a reader dislikes is a finding
        return [f"cannot be read: {type(error).__name__}: {str(error)[:200]}"]
    return []


def _strict_json(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("a key is there twice")
        return dict(pairs)

    document = json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    text.encode()
    return document


def _read_hdf5(path: Path, _source: Path) -> None:
    import h5py
    import numpy as np
    import xarray

    with h5py.File(path) as file:
        file.visititems(lambda _name, node: node[()] if isinstance(node, h5py.Dataset) else None)
        assert np.isfinite(file["bandwidth"][()]).all(), "a bandwidth is not finite"
    if path.suffix == ".nc":
        # These take a second and more.
        for data in xarray.open_groups(path, engine="h5netcdf").values():
            data.load()
            data.close()
        subprocess.run(["ncdump", "-h", str(path)], check=True, capture_output=True)
        gc.collect()


def _read_parquet(path: Path, _source: Path) -> None:
    import pyarrow.parquet

    pyarrow.parquet.read_table(path).validate(full=True)


def _read_perfetto(path: Path, _source: Path) -> None:
    events = _strict_json(path.read_text("utf-8"))["traceEvents"]
    assert all("ph" in event for event in events), "an event has no phase"


def _read_otf2(path: Path, source: Path) -> None:
    """Look at a copy as far as its original can be looked at: many kill the library's own tools."""
    _same_events(path, source)
    outcomes = [_printed(anchor) for anchor in (next(source.glob("*.otf2")), path)]
    events = [re.findall(rb"^IO_.*", printed, re.MULTILINE) for _, printed in outcomes]
    assert outcomes[0][0] or not outcomes[1][0], "otf2-print fails on the copy only"
    assert outcomes[0][0] or events[0] == events[1], "the copy has other events"


def _same_events(path: Path, source: Path) -> None:
    """Look whether a copy has all events of all locations that the definitions name, byte by byte."""
    from iostrata.otf2io.archive import open_archive

    archive = open_archive(source)
    names = [f"{location}.evt" for location in archive.definitions.locations.id.tolist()]
    folders = archive.anchor.base, path.with_suffix("")
    events = [{name: (one / name).read_bytes() for name in names if (one / name).exists()} for one in folders]
    assert events[0] == events[1], "the copy has other event files"


def _printed(anchor: Path) -> tuple[int, bytes]:
    """Return the exit code of otf2-print and what it prints; it ends where it prints on and on, as on some damage."""

    def restrict() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_PRINTED, _MOST_PRINTED))

    with tempfile.TemporaryFile() as file:
        done = subprocess.run(["otf2-print", str(anchor)], check=False, stdout=file, preexec_fn=restrict)
        file.seek(0)
        return done.returncode, file.read()


def _read_rewritten_otf2(path: Path, source: Path) -> None:
    """Look whether a new archive can be printed, and holds the bytes that its source holds."""
    status, printed = _printed(path)
    # Without any location it gives up.
    if json.loads(run_command(["info", str(path), "--json"])[1])["trace"]["locations"]:
        assert not status, f"otf2-print fails: {printed[-200:]!r}"
    moved = [
        {
            (row["layer"], row["direction"]): (row["operations"], row["bytes"])
            for row in json.loads(run_command(["layers", str(trace), "--json", "--files", "all"])[1])["layers"]
        }
        for trace in (source, path)
    ]
    assert moved[0] == moved[1], f"other bytes in the new archive: {moved}"


class _Page(HTMLParser):
    """Counts the elements that load or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[dict[str, str | None]] = []
        self.loading: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "script":
            self.scripts.append(values)
        self.loading += [f"{tag} {name}" for name in values if name in ("src", "onerror", "onload", "srcset")]


def _read_html(path: Path, _source: Path) -> None:
    page = _Page()
    page.feed(path.read_text("utf-8"))
    page.close()
    assert not page.loading, f"the page loads: {page.loading[:3]}"


def _read_lines(path: Path, _source: Path) -> None:
    for line in path.read_text("utf-8").splitlines():
        _strict_json(line)


def _read_svg(path: Path, _source: Path) -> None:
    ElementTree.parse(path)


READERS: Final[dict[str, Callable[[Path], None]]] = {
    ".h5": _read_hdf5,
    ".nc": _read_hdf5,
    ".parquet": _read_parquet,
    ".json": _read_perfetto,
    ".otf2": _read_otf2,
    ".html": _read_html,
    ".jsonl": _read_lines,
    ".svg": _read_svg,
}
"""Independent readers by the suffix of what is written."""


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
