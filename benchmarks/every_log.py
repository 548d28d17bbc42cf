"""Every command on every log of a folder: how it ended and its first line, and sums beside what others read of them.

What a command answers has to be read by somebody; this puts all of it into one table. Give folders of logs, and ``-o``
for a folder that keeps the whole output of each command. Sums of bytes, transfers and times are those of pydarshan,
and of Python's ``json`` and ``csv`` and of pyarrow for the logs of other recorders.
"""

import argparse
import contextlib
import csv
import gzip
import io
import json
import re
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from iostrata.cli import main
from iostrata.inputs.recognition import Recorder, find_recorder, open_recorded
from iostrata.model.errors import TraceError

COMMANDS = {
    "overview": [],
    "info": ["info"],
    "layers": ["layers"],
    **{f"layers --by {key}": ["layers", "--by", key] for key in ("file", "rank", "node", "function")},
    "handles": ["handles"],
    "periods": ["periods"],
    "compare": ["compare"],
    "loops": ["loops"],
    "signature": ["signature"],
    "assess": ["assess"],
    "diff": ["diff"],
    "watch": ["watch", "--once"],
    "report": ["report"],
    "collect": ["collect"],
    **{f"convert {suffix}": ["convert"] for suffix in ("h5", "parquet", "perfetto.json", "otf2")},
}
TWICE = ("signature", "diff")
"""Commands that want two runs; the log stands in for both."""
DARSHAN = {"POSIX": "POSIX", "MPI-IO": "MPIIO", "STDIO": "STDIO", "H5D": "H5D", "DFS": "DFS"}
LAYERS = {"POSIX": "POSIX", "MPI-IO": "MPI-IO", "STDIO": "ISOC", "H5D": "HDF5", "DFS": "DFS"}


FAULTS = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError, RuntimeError, OSError)
"""What no command should raise."""


def logs_of(folder: Path) -> Iterator[Path]:
    """Give the logs of a folder: its files, folders that a recorder is known of, and the files of those refused."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(("README", "LICENSE")) or path.suffix in (".txt", ".md"):
            continue
        recorder = find_recorder(path)
        if not path.is_dir() or recorder is not None or any(path.glob("*.otf2")):
            yield path
        if path.is_dir() and not any(path.glob("*.otf2")) and (recorder is None or not is_one_run(path, recorder)):
            yield from logs_of(path)


def is_one_run(path: Path, recorder: Recorder) -> bool:
    """Tell whether a folder can be opened as one."""
    try:
        open_recorded(path, recorder)
    except TraceError:
        return False
    return True


def run(name: str, path: Path, into: Path) -> tuple[int, str, float]:
    """Return how a command ended, all that it printed, and its processor time in s."""
    arguments = [*COMMANDS[name], str(path), *([str(path)] if name in TWICE else [])]
    kind = name.partition(" ")[2]
    if name.startswith("convert"):
        arguments.append(str(into / f"out.{kind}"))
    elif name == "report":
        arguments += ["-o", str(into / "out.html")]
    elif name == "collect":
        arguments += ["-o", str(into / "collected")]
    printed = io.StringIO()
    begin = time.process_time()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            status = main(arguments)
        except FAULTS as error:
            status = 99
            print(f"raised {error!r}")
    return status, printed.getvalue(), time.process_time() - begin


def first_line(text: str, path: Path) -> str:
    """Return the first line of what is answered, which stands below the heading, or of what is refused."""
    lines = [line.strip() for line in text.splitlines()]
    below = lines[lines.index("") + 1 :] if "" in lines and not text.startswith("iostrata: error") else lines
    found = next((line for line in (*below, *lines) if line and not line.startswith(str(path))), "")
    return found.replace(str(path), path.name).replace("|", "\\|")[:160]


Truth = dict[tuple[str, str], list[float]]
"""Transfers, bytes and s by layer and direction."""


def events_truth(path: Path) -> Truth:
    """Add up the events of DFTracer's and TAU's files, by Python's json."""
    found: Truth = {}
    for part in sorted(path.glob("*.gz")) if path.is_dir() else [path]:
        with gzip.open(part, "rt", errors="replace") as lines:
            for line in lines:
                if not (text := line.strip().rstrip(",")).startswith("{"):
                    continue
                # TAU writes addresses as no JSON has them.
                event = json.loads(re.sub(r": 0x[0-9a-f]+", ": 0", text))
                name, told = event["name"], event.get("args") or {}
                moved = told.get("ret", event.get("return"))
                way = next((way for way in ("read", "write") if way in name), "write" if name in PRINTING else "")
                if event.get("cat") not in ("POSIX", "STDIO") or not way or moved is None:
                    continue
                layer = "ISOC" if event["cat"] == "STDIO" or name[0] == "f" else "POSIX"
                add(
                    found,
                    layer,
                    way,
                    int(moved) * int(told.get("size", 1) if name[0] == "f" else 1),
                    int(event["dur"]) / 1e6,
                )
    return found


def table_truth(path: Path) -> Truth:
    """Add up LDMS's rows by Python's csv, and those of Recorder's tables by pyarrow."""
    found: Truth = {}
    if path.is_dir():
        import pyarrow.parquet

        for part in sorted(path.glob("*.parquet")):
            columns = pyarrow.parquet.read_table(part, columns=["func_id", "size", "duration"]).to_pydict()
            for name, size, took in zip(columns["func_id"], columns["size"], columns["duration"], strict=True):
                if name in ("read", "write"):
                    add(found, "POSIX", name, size, took)
        return found
    with gzip.open(path, "rt") as lines:
        for row in csv.DictReader(lines):
            if row["op"] in ("read", "write"):
                add(
                    found,
                    "ISOC" if row["module"] == "STDIO" else row["module"],
                    row["op"],
                    int(row["len"]),
                    float(row["dur"]),
                )
    return found


def add(found: Truth, layer: str, way: str, moved: float, took: float) -> None:
    """Add a transfer; one that failed moved nothing."""
    one = found.setdefault((layer, way), [0, 0, 0.0])
    one[:] = one[0] + 1, one[1] + (moved if 0 <= moved < 2**63 else 0), one[2] + took


PRINTING = ("fprintf", "fputs", "fputc", "vfprintf")
TRUTHS = {"DFTracer": events_truth, "TAU": events_truth, "LDMS": table_truth, "Recorder": table_truth}


def layers_told(path: Path) -> dict[tuple[str, str], Any]:
    """Return what `layers` tells of all files, by layer and direction; nothing where it refuses."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(io.StringIO()):
        refused = main(["layers", str(path), "--files", "all", "--json"])
    return {} if refused else {(one["layer"], one["direction"]): one for one in json.loads(told.getvalue())["layers"]}


def sums_of_events(path: Path, truth: Truth) -> list[str]:
    """Return where bytes, transfers and times differ from the truth."""
    entries, wrong = layers_told(path), []
    for key, theirs in truth.items():
        ours = [entries.get(key, {}).get(name) or 0 for name in ("operations", "bytes", "summed_s")]
        if ours[:2] != theirs[:2] or abs(ours[2] - theirs[2]) > 1e-3 * theirs[2] + 1e-5:
            wrong.append(f"{key[0]} {key[1]}: {ours}, truth {theirs}")
    return wrong


def sums(path: Path) -> list[str]:
    """Return where sums differ from pydarshan's, by module, direction and quantity; empty where all are equal."""
    import darshan

    report = darshan.DarshanReport(str(path), read_all=False)
    entries, wrong = layers_told(path), []
    for module, prefix in DARSHAN.items():
        if module not in report.modules:
            continue
        report.mod_read_all_records(module, dtype="numpy")
        table = report.records[module].to_df()
        for direction, moved in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN")):
            name = f"{prefix}_F_{direction.upper()}_TIME"
            theirs = int(table["counters"][f"{prefix}_{moved}"].clip(lower=0).sum())
            seconds = table["fcounters"][name].clip(lower=0).sum() if name in table["fcounters"] else None
            entry = entries.get((LAYERS[module], direction), {})
            ours = entry.get("bytes") or 0
            if ours != theirs:
                wrong.append(f"{module} {direction}: {ours} bytes, pydarshan {theirs}")
            taken = entry.get("summed_s")
            # Darshan's time in writes has that of flushes, which segments of DXT are not.
            flushed = flushing_s(table, prefix) if direction == "write" else 0.0
            slack = 1e-3 * (seconds or 0.0) + 1e-5
            if seconds and taken is not None and not seconds - flushed - slack <= taken <= seconds + slack:
                wrong.append(f"{module} {direction}: {taken:.6g} s, pydarshan {seconds:.6g} s")
    return wrong


def flushing_s(table: dict[str, Any], prefix: str) -> float:
    """Return the time in writes of files that were flushed."""
    names = [name for name in (f"{prefix}_FSYNCS", f"{prefix}_FDSYNCS") if name in table["counters"]]
    flushed = table["counters"][names].clip(lower=0).sum(axis=1) > 0
    return float(table["fcounters"][f"{prefix}_F_WRITE_TIME"].clip(lower=0)[flushed].sum()) if names else 0.0


def table(folders: list[Path], kept: Path, names: list[str]) -> None:
    """Print the table, and keep the output of each command."""
    print("| log | command | exit | s | first line |\n|---|---|---|---|---|")
    for folder in folders:
        for path in logs_of(folder):
            for name in names:
                into = kept / path.name / name.replace(" ", "_")
                into.mkdir(parents=True, exist_ok=True)
                status, text, took = run(name, path, into)
                (into / "printed.txt").write_text(text)
                print(f"| {path.name} | {name} | {status} | {took:.2f} | {first_line(text, path)} |", flush=True)
            known = find_recorder(path)
            if path.suffix == ".darshan" and find_spec("darshan"):
                print(f"| {path.name} | sums | | | {'; '.join(sums(path)) or 'as pydarshan has them'} |", flush=True)
            elif known is not None and known.name in TRUTHS:
                wrong = sums_of_events(path, TRUTHS[known.name](path))
                print(f"| {path.name} | sums | | | {'; '.join(wrong) or 'as the file has them'} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--command", action="append", choices=COMMANDS)
    chosen = parser.parse_args()
    table(chosen.folders, chosen.output, chosen.command or list(COMMANDS))
