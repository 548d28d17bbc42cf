"""Reading other recorders beside their own libraries: DXT beside pydarshan's data frames, DFTracer beside `json`.

Ours end with columns of all transfers: rank or process, mode, start, end, bytes. Runs are interleaved in one process,
and processor time is what counts, for a machine that others use too. Inflating alone is what no reader that reads all
can be faster than. Give the folder of real logs.
"""

import argparse
import gzip
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from iostrata.inputs.darshan.counters import MODULES
from iostrata.inputs.darshan.log import read_log
from iostrata.inputs.darshan.segments import TRACED
from iostrata.inputs.dftracer.lines import read_lines
from iostrata.inputs.inflating import GZIP, inflating
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
    """Return the bytes of a file's text, inflated a piece at a time into one room."""
    room, total = memoryview(bytearray(1 << 18)), 0
    with path.open("rb", buffering=0) as file:
        packed = file.read(len(GZIP)) == GZIP
        file.seek(0)
        fill = inflating(file, []) if packed else file.readinto
        while got := fill(room):
            total += got
    return total


def inflated_log(path: Path) -> int:
    """Return the bytes of the modules of a log that are read, inflated."""
    log = read_log(path)
    return sum(len(log.content(name)[0]) for name in log.modules if name in TRACED or name in MODULES)


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


def told(taken: list[float]) -> str:
    """Return median, least and most in ms."""
    return f"{1e3 * statistics.median(taken):.2f} ({1e3 * min(taken):.2f} – {1e3 * max(taken):.2f})"


def ratios(peer: list[float], taken: list[float]) -> str:
    """Return the ratio of the medians, and the least and most of a round."""
    each = [one / other for one, other in zip(peer, taken, strict=True)]
    return f"{statistics.median(peer) / statistics.median(taken):.1f} ({min(each):.1f} – {max(each):.1f})"


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--title", default="Other recorders")
    arguments = parser.parse_args()
    title = "| input | bytes | rows | {} | iostrata | ratio | inflating alone | ratio of that |"
    contenders: dict[str, tuple[dict[str, Callable[[Path], int]], list[Path]]] = {
        "pydarshan's data frames": (
            {"peer": pydarshan_rows, "ours": iostrata_rows, "floor": inflated_log},
            [arguments.folder / "darshan" / f"{name}.darshan" for name in LOGS],
        ),
        "`json`, objects only": (
            {"peer": json_objects, "ours": scanned, "floor": inflated, "columns": json_columns},
            sorted((arguments.folder / "dftracer").glob("*.pfw.gz"), key=lambda path: -path.stat().st_size),
        ),
    }
    plain = Path(tempfile.mkdtemp())
    text = []
    for peer, (calls, paths) in contenders.items():
        lines = [title.format(peer), "|" + "---|" * 8]
        columns = []
        for path in paths:
            inputs = [path]
            if "columns" in calls:
                inputs.append(plain / path.stem)
                inputs[1].write_bytes(content(path))
            for one in inputs:
                found = measured(calls, one, arguments.rounds)
                first = found["peer"][1]
                if "columns" in found:
                    columns.append(statistics.median(found["columns"][1]) / statistics.median(first))
                lines.append(
                    f"| {one.name} | {one.stat().st_size:,} | {found['ours'][0]:,} | {told(first)} | "
                    f"{told(found['ours'][1])} | {ratios(first, found['ours'][1])} | {told(found['floor'][1])} | "
                    f"{ratios(first, found['floor'][1])} |"
                )
        if columns:
            lines.append(
                f"\n`json` that makes columns too takes {min(columns):.1f} to {max(columns):.1f} times as long."
            )
        text.append("\n".join(lines))
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    body = "\n\n".join(text) + (
        f"\n\nProcessor time in ms, median (least – most) of {arguments.rounds} interleaved rounds in one process, "
        f"kernels compiled; ratios are of the medians, and the least and most of a round. The load was {load}. Ours "
        "reads DXT and the counters of all modules, checks and orders it and makes definitions; pydarshan reads DXT "
        "alone and stops at a data frame a record. Of DFTracer each reads the file, inflates it where it is "
        "compressed, and reads its lines; `json` makes objects and nothing is taken of them, ours are columns. Ours "
        f"inflates by {'zlib-ng' if find_spec('zlib_ng') else 'zlib'}, the others by zlib."
    )
    write_section(arguments.title, body)
    print(body)


if __name__ == "__main__":
    main()
