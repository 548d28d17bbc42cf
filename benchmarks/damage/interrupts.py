"""End commands by signals at random moments: ``python benchmarks/damage/interrupts.py --count 50``.

A command that is ended leaves nothing under the name of its output and no other process, and says so in one line; only
SIGKILL may leave the hidden file that it was writing.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import Final

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
OTHER: Final = FIXTURES / "ckpt4"
"""What commands that take several traces take beside the first."""
COMMANDS: Final = (
    *(("info",), ("layers",), ("layers", "--by", "caller"), ("layers", "--engine", "library"), ("overview",)),
    *(("handles", "--json"), ("periods",), ("periods", "--plot", "{out}.png"), ("compare",), ("loops",)),
    ("report", "-o", "{out}.html"),
    ("report", "-o", "{out}.html", "--memory", "300M"),
    *(("convert", f"{{out}}{suffix}") for suffix in (".h5", ".nc", ".parquet", ".perfetto.json", ".otf2")),
    ("convert", "{out}.otf2", "--rewrite"),
    ("convert", "{out}.ftio.jsonl", "--layer", "POSIX"),
    ("collect", "{other}", "-o", "{out}"),
    ("diff", "{other}", "-o", "{out}.html"),
    *(("signature", "{other}", "-o", f"{{out}}{suffix}") for suffix in (".html", ".h5")),
    ("signature", "{other}", "--plot", "{out}.svg", "-o", "{out}.html"),
    ("assess", "{other}", "--segment", "1", "-o", "{out}.html"),
    ("assess", "{other}", "--segment", "1", "--train", "-o", "{out}.json"),
    ("schedule", "{other}", "--plot", "{out}.svg", "-o", "{out}.json"),
    ("watch", "--replay", "{trace}"),
)
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
_STARTING: Final = 0.15
"""Seconds in which Python itself starts, and says what it likes."""
_LONGEST: Final = 300.0
_ENDING: Final = 10.0


def end_one(command: tuple[str, ...], trace: Path, number: signal.Signals, after: float) -> tuple[str, float]:
    """Start a command, send it a signal `after` seconds; return what is wrong, or nothing, and how long it ran."""
    with tempfile.TemporaryDirectory() as room:
        out = Path(room) / "written"
        parts = [part.format(out=out, other=OTHER, trace=trace) for part in command]
        arguments = parts if "{trace}" in command else [parts[0], str(trace), *parts[1:]]
        begin = time.monotonic()
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "iostrata"), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            _, said = process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            try:
                _, said = process.communicate(timeout=_LONGEST)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return "goes on", time.monotonic() - begin
        took = time.monotonic() - begin
        # Between its last step and its end a command has written what it should, and that is whole.
        left = unreadable(Path(room))
        if number != signal.SIGKILL:
            left += sorted(path.name for path in Path(room).iterdir() if not path.name.startswith("written"))
        return _fault(process.returncode, said.decode(), left, number, after) or _orphans(process.pid), took


def _fault(status: int, said: str, left: list[str], number: signal.Signals, after: float) -> str:
    if status == 0:
        return ""
    if number == signal.SIGKILL:
        return "" if status == -number and not left else f"{status} {left}"
    if left:
        return f"left {left}"
    if (status == -number and not said) or (after < _STARTING and status in (1, 130)):
        # Python starts or ends, when signals do what they do to any process.
        return ""
    if status != 130 or said.splitlines()[-1:] != ["iostrata: error: interrupted"] or "Traceback" in said:
        return f"exit code {status}, {said[-300:]!r}"
    return ""


def unreadable(folder: Path) -> list[str]:
    """Return what stands under its final name, or hides in a folder of that name, and is not whole."""
    found = []
    for path in sorted(path for path in folder.rglob("written*") if not path.name.endswith((".def", ".marker"))):
        for file in path.rglob("*.parquet") if path.is_dir() else (path,):
            try:
                _ENDS[file.suffix](file)
            except Exception as error:  # noqa: BLE001 - whatever a reader dislikes
                found.append(f"{file.name}: {error}"[:200])
    return found


def _ends_with(end: bytes) -> Callable[[Path], None]:
    def check(path: Path) -> None:
        if not path.read_bytes().rstrip().endswith(end):
            raise ValueError("it is cut")

    return check


def _printed(path: Path) -> None:
    subprocess.run(["otf2-print", str(path)], check=True, capture_output=True)


def _open_table(path: Path) -> None:
    import pyarrow.parquet

    pyarrow.parquet.read_table(path)


def _open_hdf5(path: Path) -> None:
    import h5py

    with h5py.File(path) as file:
        file.visititems(lambda _name, node: node[()] if isinstance(node, h5py.Dataset) else None)


_ENDS: Final[dict[str, Callable[[Path], None]]] = {
    ".png": _ends_with(b"IEND\xaeB`\x82"),
    ".svg": _ends_with(b"</svg>"),
    ".html": _ends_with(b"</html>"),
    ".json": _ends_with(b"}"),
    ".jsonl": _ends_with(b"}"),
    ".parquet": _open_table,
    ".h5": _open_hdf5,
    ".nc": _open_hdf5,
    ".otf2": _printed,
}
"""What tells whether a file is whole, by its suffix."""


def _orphans(group: int) -> str:
    """Say whether a process of the group outlives the command by more than it takes to end."""
    end = time.monotonic() + _ENDING
    while time.monotonic() < end:
        if not _alive(group):
            return ""
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    return "left a process"


def _alive(group: int) -> bool:
    """Tell whether processes of a group run; those that have ended and wait for somebody to notice do not."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, of_group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(of_group) == group and state != "Z":
            return True
    return False


def main() -> None:
    """Read the command line, run, and fail if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50, help="signals to each command")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trace", type=Path, default=FIXTURES / "ncckpt4")
    parser.add_argument("--command", default="", help="commands that contain this")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    found: Counter[str] = Counter()
    for command in (one for one in COMMANDS if options.command in " ".join(one)):
        # The first may compile, which the others do not.
        _, whole = min((end_one(command, options.trace, signal.SIGKILL, _LONGEST) for _ in range(2)), key=itemgetter(1))
        faults = []
        for _ in range(options.count):
            number, after = chance.choice(SIGNALS), chance.uniform(0, whole)
            fault, _ = end_one(command, options.trace, number, after)
            if fault:
                faults.append(f"{number.name} after {after:.3f} s: {fault}")
        found[" ".join(command)] = len(faults)
        print(f"{' '.join(command)}: {options.count} signals within {whole:.2f} s, {len(faults)} faults", flush=True)
        for fault in faults:
            print(f"  {fault}", flush=True)
    sys.exit(1 if found.total() else 0)


if __name__ == "__main__":
    main()
