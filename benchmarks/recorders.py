"""Reading other recorders beside their own libraries: DXT beside pydarshan's data frames, DFTracer beside `json`.

Each contender ends with columns of all transfers: rank or process, mode, start, end, bytes. Runs are interleaved, and
processor time is what counts, for a machine that others use too. Give the folder of real logs.
"""

import argparse
import gzip
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from iostrata.inputs.dftracer.lines import read_lines
from iostrata.layers.selection.source import open_source
from results import write_section


def iostrata_rows(path: Path) -> int:
    """Return the transfers of a log, read as every command does."""
    return len(open_source(path).operations)


def pydarshan_rows(path: Path) -> int:
    """Return the transfers of a log out of pydarshan's data frames."""
    import darshan

    report = darshan.DarshanReport(str(path), read_all=False)
    rows = 0
    for module in ("DXT_POSIX", "DXT_MPIIO"):
        if module in report.modules:
            report.mod_read_all_dxt_records(module, dtype="pandas")
            rows += sum(
                len(record["read_segments"]) + len(record["write_segments"]) for record in report.records[module]
            )
    return rows


def scanned_lines(path: Path) -> int:
    """Return the events of a file, as columns."""
    return len(read_lines(path).numbers["ts"])


def json_lines(path: Path) -> int:
    """Return the events of a file, as columns, by Python's own JSON."""
    columns: dict[str, list[object]] = {
        name: [] for name in ("name", "cat", "pid", "tid", "ts", "dur", "fname", "ret", "count", "offset", "fd")
    }
    with gzip.open(path, "rt") as file:
        for line in file:
            text = line.strip().rstrip(",")
            if text.startswith("{"):
                event = json.loads(text)
                arguments = event.get("args", {})
                for name, values in columns.items():
                    values.append(event.get(name, arguments.get(name)))
    times = np.array([int(one) for one in columns["ts"] if one is not None], np.int64)
    [int(one) for one in columns["ret"] if one is not None]
    return len(times)


def scanned_text(path: Path) -> int:
    """Return the events of lines in memory, as columns."""
    from iostrata.inputs.dftracer.scan import scan

    return int((scan(np.frombuffer(path.read_bytes(), np.uint8))[3] == 1).sum())


def json_text(path: Path) -> int:
    """Return the events of lines in memory, as objects."""
    rows = 0
    for line in path.read_bytes().split(b"\n"):
        text = line.strip().rstrip(b",")
        if text.startswith(b"{"):
            json.loads(text)
            rows += 1
    return rows


def measured(
    contenders: dict[str, Callable[[Path], int]], path: Path, rounds: int
) -> dict[str, tuple[int, list[float]]]:
    """Return rows and processor seconds of each contender, after one round that is not counted."""
    found: dict[str, tuple[int, list[float]]] = {name: (0, []) for name in contenders}
    for number in range(rounds + 1):
        for name, contender in contenders.items():
            start = time.process_time()
            rows = contender(path)
            taken = time.process_time() - start
            found[name] = (rows, [*found[name][1], taken] if number else [])
    return found


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    lines = ["| input | reader | rows | processor s | rows/s | ratio |", "|---|---|---|---|---|---|"]
    darshan = {"pydarshan's data frames": pydarshan_rows, "iostrata": iostrata_rows}
    dftracer = {"`json`": json_lines, "iostrata": scanned_lines}
    packed = arguments.folder / "dftracer" / "test-trace.pfw.gz"
    plain = Path(tempfile.mkdtemp()) / "test-trace.pfw"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    for path, contenders in (
        (arguments.folder / "darshan" / "dxtexp_8_benchmark_parallel.darshan", darshan),
        (arguments.folder / "darshan" / "drishti_8a_optimised.darshan", darshan),
        (arguments.folder / "darshan" / "nonmpi_dxt_anonymized.darshan", darshan),
        (packed, dftracer),
        (plain, {"`json`": json_text, "iostrata": scanned_text}),
    ):
        found = measured(contenders, path, arguments.rounds)
        peer = statistics.median(next(iter(found.values()))[1])
        for name, (rows, taken) in found.items():
            middle = statistics.median(taken)
            lines.append(
                f"| {path.name} | {name} | {rows:,} | {middle:.3f} | {rows / middle:,.0f} | {peer / middle:.1f} |"
            )
    body = "\n".join(lines) + (
        f"\n\nMedian of {arguments.rounds} interleaved rounds, kernels compiled. Ours reads DXT with the counters, "
        "checks and orders it and makes definitions; pydarshan stops at a data frame a record. Readers of DFTracer "
        "inflate and make columns, but for the last input: lines in memory, which `json` only turns into objects."
    )
    write_section("Other recorders", body)
    print(body)


if __name__ == "__main__":
    main()
