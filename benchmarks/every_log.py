"""Every command on every log of a folder: how it ended and its first line, and sums beside pydarshan's.

What a command answers has to be read by somebody; this puts all of it into one table. Give folders of logs, and ``-o``
for a folder that keeps the whole output of each command.
"""

import argparse
import contextlib
import io
import json
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from iostrata.cli import main
from iostrata.inputs.recognition import find_recorder

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
    """Give the logs of a folder: files and folders that a recorder is known of."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(("README", "LICENSE")) or path.suffix in (".txt", ".md"):
            continue
        recorder = find_recorder(path)
        known = recorder is not None or any(path.glob("*.otf2")) if path.is_dir() else recorder is not None
        if known:
            yield path
        elif path.is_dir():
            yield from logs_of(path)


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


def sums(path: Path) -> list[str]:
    """Return where sums differ from pydarshan's, by module, direction and quantity; empty where all are equal."""
    import darshan

    report, told = darshan.DarshanReport(str(path), read_all=False), io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(io.StringIO()):
        if main(["layers", str(path), "--files", "all", "--json"]):
            return ["no layers"]
    entries = {(one["layer"], one["direction"]): one for one in json.loads(told.getvalue())["layers"]}
    wrong = []
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
            if seconds and taken is not None and abs(taken - seconds) > 1e-3 * seconds + 1e-5:
                wrong.append(f"{module} {direction}: {taken:.6g} s, pydarshan {seconds:.6g} s")
    return wrong


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
            if path.suffix == ".darshan" and find_spec("darshan"):
                print(f"| {path.name} | sums | | | {'; '.join(sums(path)) or 'as pydarshan has them'} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--command", action="append", choices=COMMANDS)
    chosen = parser.parse_args()
    table(chosen.folders, chosen.output, chosen.command or list(COMMANDS))
