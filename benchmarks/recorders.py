"""Reading other recorders beside their own libraries: DXT beside pydarshan's data frames, DFTracer beside `json`.

Each contender ends with columns of all transfers: rank or process, mode, start, end, bytes. Runs are interleaved, and
processor time is what counts, for a machine that others use too. Give the folder of real logs.
"""

import argparse
import gzip
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from iostrata.inputs.dftracer.lines import read_lines
from iostrata.layers.selection.source import open_source
from results import write_section

LOGS = (
    "dxtexp_8_benchmark_parallel",
    "partial_data_dxt",
    "drishti_8a_optimised",
    "nonmpi_dxt_anonymized",
    "dxt",
    "hdf5_diagonal_write_bytes_range_dxt",
)


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


def content(path: Path) -> bytes:
    """Return the text of a file, inflated."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def inflated(path: Path) -> int:
    """Return the lines of a file that begin an object."""
    return content(path).count(b"\n{")


def scanned(path: Path) -> int:
    """Return the events of a file, as columns."""
    return len(read_lines(path).numbers["ts"])


def json_objects(path: Path) -> int:
    """Return the events of a file, as Python's objects, of which nothing is taken."""
    rows = 0
    for line in content(path).split(b"\n"):
        text = line.strip().rstrip(b",")
        if text.startswith(b"{"):
            json.loads(text)
            rows += 1
    return rows


def json_columns(path: Path) -> int:
    """Return the events of a file, as columns, by Python's own JSON."""
    names = ("name", "cat", "pid", "tid", "ts", "dur", "fname", "fhash", "ret", "count", "offset", "fd")
    columns: dict[str, list[object]] = {name: [] for name in names}
    for line in content(path).split(b"\n"):
        text = line.strip().rstrip(b",")
        if text.startswith(b"{"):
            event = json.loads(text)
            arguments = event.get("args", {})
            for name, values in columns.items():
                values.append(event.get(name, arguments.get(name)))
    for name in ("pid", "tid", "ts", "dur", "ret", "count", "offset"):
        np.array([-1 if one is None else int(str(one)) for one in columns[name]], np.int64)
    return len(columns["ts"])


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
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    lines = ["| input | reader | rows | processor s | rows/s | ratio |", "|---|---|---|---|---|---|"]
    darshan = {"pydarshan's data frames": pydarshan_rows, "iostrata": iostrata_rows}
    dftracer = {
        "`json`, objects only": json_objects,
        "`json`, columns": json_columns,
        "iostrata": scanned,
        "inflating alone": inflated,
    }
    plain = Path(tempfile.mkdtemp())
    inputs: list[tuple[Path, dict[str, Callable[[Path], int]]]] = [
        (arguments.folder / "darshan" / f"{name}.darshan", darshan) for name in LOGS
    ]
    for packed in sorted((arguments.folder / "dftracer").glob("*.pfw.gz")):
        text = plain / packed.stem
        text.write_bytes(content(packed))
        inputs.append((text, {name: call for name, call in dftracer.items() if name != "inflating alone"}))
        inputs.append((packed, dftracer))
    for path, contenders in inputs:
        found = measured(contenders, path, arguments.rounds)
        peer = statistics.median(next(iter(found.values()))[1])
        for name, (rows, taken) in found.items():
            middle = statistics.median(taken)
            lines.append(
                f"| {path.name} | {name} | {rows:,} | {middle:.4f} | {rows / middle:,.0f} | {peer / middle:.1f} |"
            )
    body = "\n".join(lines) + (
        f"\n\nMedian of {arguments.rounds} interleaved rounds in one process, kernels compiled; processor time; the "
        f"load of the machine was {', '.join(f'{one:.1f}' for one in os.getloadavg())}. Ours reads DXT with counters, "
        "checks and orders it and makes definitions; pydarshan stops at a data frame a record. Of DFTracer each reads "
        "the file, inflates it where it is compressed, and reads its lines; ratios are to `json` that makes objects "
        "and takes nothing of them, ours are columns. What is compressed is bound by inflating."
    )
    write_section("Other recorders", body)
    print(body)


if __name__ == "__main__":
    main()
