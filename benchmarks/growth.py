"""How the processor time of every command grows with a trace: ``python benchmarks/growth.py``.

Archives are made at three sizes in one respect at a time: operations, handles (each with a file of its own), locations
(of a process each) and layers (each above the next). A command runs in a process that has already run it on the
smallest archive, so that nothing is compiled or imported; what is told is processor time of all its threads and
children. The exponent is the slope between the logarithms of size and time of the two larger archives, without what
the command takes on an archive of next to nothing; times below 0.2 s above that say nothing and are left out.
"""

import argparse
import contextlib
import io
import json
import math
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from iostrata.cli import main as run
from iostrata.inputs.run import HandleTable, RecordedRun
from iostrata.model.codes import UNDEFINED_TIME, IoMode
from iostrata.model.events import IoEvents
from iostrata.model.operations import Operations
from iostrata.model.recording import OTF2
from iostrata.otf2io.writing.archive import write_archive
from results import write_section

TITLE: Final = "Growth of every command (`python benchmarks/growth.py`)"
MOST: Final = 1.15
LEAST_SECONDS: Final = 0.2
USUAL: Final = {"operations": 100_000, "handles": 256, "locations": 16, "layers": 3}
SIZES: Final = {
    "operations": (50_000, 200_000, 800_000),
    "handles": (5_000, 20_000, 80_000),
    "locations": (250, 1_000, 4_000),
    "layers": (3, 12, 48),
}
SMALLEST: Final = {"operations": 100, "handles": 4, "locations": 2, "layers": 2}
COMMANDS: Final = (
    *("overview {trace}", "info {trace}", "layers {trace}", "layers {trace} --by rank", "layers {trace} --by file"),
    *(
        "layers {trace} --by handle --json",
        "layers {trace} --memory 1500M",
        "handles {trace}",
        "handles {trace} --json",
    ),
    *(
        "handles {trace} --memory 1500M",
        "periods {trace}",
        "periods {trace} --by rank",
        "periods {trace} --method ftio",
    ),
    *("compare {trace}", "compare {trace} --json", "compare {trace} --memory 1500M", "report {trace} -o {out}.html"),
    *("report {trace} -o {out}.html --memory 1500M", "convert {trace} {out}.h5", "convert {trace} {out}.parquet"),
    *("convert {trace} {out}.perfetto.json", "convert {trace} {out}.otf2", "convert {trace} {out}.otf2 --rewrite"),
    *("convert {trace} {out}.ftio.jsonl --layer POSIX", "collect {trace} -o {out}", "diff {trace} {trace}"),
    *("signature {trace} {again}", "assess {trace} --segment 1", "schedule {trace}", "watch --replay {trace}"),
)


def write_trace(folder: Path, operations: int, handles: int, locations: int, layers: int) -> Path:
    """Write an archive of `layers` layers, each above the next, POSIX the lowest, in which all have equal shares."""
    names = ("netCDF", "HDF5", "MPI-IO", *(f"layer {row}" for row in range(layers)))
    paradigms = (
        ("POSIX",) if layers == 1 else (*names[3 - min(3, layers - 1) : layers - 1 + 3 - min(3, layers - 1)], "POSIX")
    )
    stacks = max(1, handles // layers)
    file = np.arange(stacks * layers) // layers
    paradigm = np.arange(stacks * layers) % layers
    parent = np.where(paradigm > 0, np.arange(stacks * layers) - 1, -1).astype(np.int32)
    table = HandleTable(file.astype(np.int32), paradigm.astype(np.int32), parent, ("",) * len(file))
    # Calls of all layers in one another: the highest begins first and ends last.
    calls = max(1, operations // layers)
    begin = np.arange(calls, dtype=np.int64)[:, None] * 100 * layers + np.arange(layers) * 10
    end = np.arange(calls, dtype=np.int64)[:, None] * 100 * layers + 90 * layers - np.arange(layers) * 10
    # Phases of a tenth of all calls, with a pause of their length behind each.
    pause = (np.arange(calls) // max(1, calls // 10))[:, None] * (calls // 10 * 100 * layers)
    location = np.repeat((np.arange(calls) % locations).astype(np.int32), layers)
    count = calls * layers
    handle = ((np.arange(calls) % stacks)[:, None] * layers + np.arange(layers)).astype(np.int32).ravel()
    size = np.full(count, 2**20, np.uint64)
    offset = np.repeat(np.arange(calls, dtype=np.uint64) * np.uint64(2**20), layers)
    columns = Operations(
        *(location, location, location, handle, np.full(count, IoMode.WRITE, np.uint8), np.zeros(count, np.uint32)),
        *((begin + pause).ravel(), np.full(count, UNDEFINED_TIME), (end + pause).ravel(), size, size, offset),
        *(np.arange(count, dtype=np.uint64), np.zeros(count, np.uint32), np.zeros(count, np.uint8)),
    )
    scale = max(1, 20 * 10**9 // int(columns.end.max()))
    columns = replace(columns, begin=columns.begin * scale, end=columns.end * scale)
    made = RecordedRun(
        recording=OTF2,
        ranks=np.arange(locations),
        process_names=tuple(f"rank {row}" for row in range(locations)),
        nodes=tuple(f"node {row // 48}" for row in range(locations)),
        location_process=np.arange(locations, dtype=np.int32),
        location_names=("Master thread",) * locations,
        paradigms=paradigms,
        files=tuple(f"/scratch/run/part.{row}" for row in range(stacks)),
        handles=table,
    ).definitions(np.zeros(locations, np.int64), int(columns.end.max()) + 1)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_archive(folder / "traces", made, [(columns, IoEvents.empty())])
    return folder


def seconds_of(command: str, traces: list[Path], out: Path) -> list[float | str]:
    """Run a command on each trace in this process; return processor seconds, or what it said where it failed."""
    found: list[float | str] = []
    for trace in traces:
        # A run that is named twice is one.
        again = trace.with_name(f"{trace.name}-again")
        again.unlink(missing_ok=True)
        again.symlink_to(trace)
        arguments = [part.format(trace=trace, again=again, out=out / "written") for part in command.split()]
        before, said = _used(), io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            status = run(arguments)
        found.append(_used() - before if status == 0 else said.getvalue().strip().splitlines()[-1])
        for path in out.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return found


def _used() -> float:
    parts = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in parts)


def exponent(sizes: tuple[int, ...], seconds: list[float], base: float) -> float | None:
    """Return the larger of the slopes between neighbours that say something; None where none does."""
    slopes = [
        math.log((later - base) / (earlier - base)) / math.log(larger / smaller)
        for smaller, larger, earlier, later in zip(sizes, sizes[1:], seconds, seconds[1:], strict=False)
        if earlier - base > LEAST_SECONDS
    ]
    return max(slopes, default=None)


def measure(command: str, kinds: list[str], room: Path) -> dict[str, list[float | str]]:
    """Measure a command in a process of its own, on all archives."""
    done = subprocess.run(
        [sys.executable, __file__, "--worker", command, "--room", str(room), "--kinds", *kinds],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr[-2000:]}")
    return dict(json.loads(done.stdout))


def main() -> None:
    """Read the command line, measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--room", type=Path, help="where archives are kept; a temporary folder if left out")
    parser.add_argument("--kinds", nargs="*", choices=sorted(SIZES), default=list(SIZES))
    parser.add_argument("--only", default="", help="commands that contain this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        room = options.room or Path(temporary)
        if options.worker:
            out = Path(temporary) / "out"
            out.mkdir()
            tiny = room / "tiny"
            # The second run is that of a command that has been compiled and imported.
            *_, base = seconds_of(options.worker, [tiny, tiny], out)
            found = {"tiny": [base]}
            for kind in options.kinds:
                found[kind] = seconds_of(options.worker, [room / f"{kind} {size}" for size in SIZES[kind]], out)
            print(json.dumps(found))
            return
        if not (room / "tiny").exists():
            write_trace(room / "tiny", **SMALLEST)
            for kind in options.kinds:
                for size in SIZES[kind]:
                    write_trace(room / f"{kind} {size}", **{**USUAL, "operations": 100_000, kind: size})
        rows, worst = [], 0.0
        for command in COMMANDS:
            if options.only not in command:
                continue
            found = measure(command, options.kinds, room)
            cells = []
            for kind in options.kinds:
                cells.append(_cell(SIZES[kind], found[kind], found["tiny"][0]))
                if not isinstance(cells[-1], str):
                    raise TypeError
                numbers = [one for one in found[kind] if isinstance(one, float)]
                base = found["tiny"][0]
                if len(numbers) == len(SIZES[kind]) and isinstance(base, float):
                    worst = max(worst, exponent(SIZES[kind], numbers, base) or 0.0)
            label = " ".join(command.replace("{trace}", "").replace("{out}", "x").split())
            rows.append(f"| `{label}` | {' | '.join(cells)} |")
            print(rows[-1], flush=True)
    if options.only or options.kinds != list(SIZES):
        return
    heading = " | ".join(f"{kind} ({', '.join(f'{size:,}' for size in SIZES[kind])})" for kind in SIZES)
    lines = [
        "Seconds of processor time at three sizes, and behind them the exponent: the larger of the two slopes between",
        "neighbours, where the smaller of these takes more than "
        f"{LEAST_SECONDS} s beyond what the command takes on {SMALLEST['operations']} operations.",
        "What is not named is "
        f"{USUAL['operations']:,} operations, {USUAL['handles']} handles, {USUAL['locations']} locations,",
        f"{USUAL['layers']} layers.",
        "",
        f"| command | {heading} |",
        "|---" * (1 + len(SIZES)) + "|",
        *rows,
        "",
        f"The largest exponent is {worst:.2f}.",
    ]
    write_section(TITLE, "\n".join(lines))
    sys.exit(worst > MOST)


def _cell(sizes: tuple[int, ...], found: list[float | str], base: float | str) -> str:
    if isinstance(base, str) or any(isinstance(one, str) for one in (*found, base)):
        return str(next(one for one in (*found, base) if isinstance(one, str)))[:60]
    seconds = [one for one in found if isinstance(one, float)]
    slope = exponent(sizes, seconds, base)
    times = ", ".join(f"{one:.2f}" for one in seconds)
    return f"{times}: {'–' if slope is None else f'{slope:.2f}'}"


if __name__ == "__main__":
    main()
