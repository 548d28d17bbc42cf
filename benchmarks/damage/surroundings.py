"""Run every command where the machine is in its way: ``python benchmarks/damage/surroundings.py``.

Homes and temporary folders that are not there, a system that can only be read, names that are no UTF-8 in the locale C,
few open files, little memory, full disks of many sizes, limits of file sizes, outputs that are links, devices or
folders, streams that are closed or full, two runs at once, traces that are cut or replaced while they are read. A
command either does what it does otherwise, or says in one line why not and leaves nothing behind; never a traceback.

Disks of a size and a system that can only be read need a mount namespace (``unshare -rm``); where there is none, these
are left out and named.
"""

import argparse
import filecmp
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from interrupts import COMMANDS, FIXTURES, OTHER, unreadable

sys.path.append(str(Path(__file__).parents[1]))
from results import write_section

TITLE: Final = "Every command in hostile surroundings (`python benchmarks/damage/surroundings.py`)"
LONGEST: Final = 600.0
NOWHERE: Final = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR")
DISKS: Final = (4, 64)
"""Sizes in KiB of disks that outputs do not, or just, fit on."""


@dataclass(frozen=True)
class Surrounding:
    """What is in the way of a command.

    Attributes
    ----------
    name : str
    outcome : str
        "same": it prints what it prints otherwise; "any": that, or one line and nothing written; "line": the latter.
    environment : dict
    limits : dict
        Of the system, ``resource.RLIMIT_…``.
    script : str
        What ``sh`` does, with the command as ``"$@"`` and the folder of the output as ``$ROOM``.
    namespace : bool
        Whether it has mounts of its own.
    output : callable, optional
        Makes what stands in the place of the output; gets its path and the trace. Commands that write nothing are left
        out.
    hostile : bool
        Whether the trace has a name that is no UTF-8.
    meanwhile : callable, optional
        Does something to the copy of the trace while the command runs.
    """

    name: str
    outcome: str = "same"
    environment: dict[str, str] = field(default_factory=dict)
    limits: dict[int, int] = field(default_factory=dict)
    script: str = 'exec "$@"'
    namespace: bool = False
    output: Callable[[Path, Path], None] | None = None
    hostile: bool = False
    meanwhile: Callable[[Path, random.Random], None] | None = None


def _cut(trace: Path, chance: random.Random) -> None:
    time.sleep(chance.uniform(0.3, 2.0))
    for path in (trace / "traces").glob("*.evt"):
        os.truncate(path, chance.randrange(path.stat().st_size + 1))


def _replace(trace: Path, chance: random.Random) -> None:
    time.sleep(chance.uniform(0.3, 2.0))
    other = trace.with_name("other")
    shutil.copytree(OTHER, other)
    trace.rename(trace.with_name("away"))
    other.rename(trace)


def _remove_room(trace: Path, chance: random.Random) -> None:
    time.sleep(chance.uniform(0.3, 2.0))
    shutil.rmtree(trace.with_name("room"))


def _folder(out: Path, _trace: Path) -> None:
    out.mkdir()
    (out / "mine").write_text("precious")


def _link(of: Callable[[Path], Path]) -> Callable[[Path, Path], None]:
    return lambda out, trace: out.symlink_to(of(trace))


_ENDS_IN_ROOM: Final = (
    '"$@"; status=$?; find "$ROOM" -type f -not -path "*/.pending/*" -printf "%P\\n" >"$ROOM.left"; exit $status'
)
"""A collection keeps what was read for the next call, under no name of its own."""
SURROUNDINGS: Final = (
    Surrounding(
        "no home, no temporary folder, names that are no UTF-8, the locale C, 64 open files, no stdin",
        "success",
        environment={
            **dict.fromkeys(NOWHERE, "/proc/none"),
            "LC_ALL": "C",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONUTF8": "0",
        },
        limits={resource.RLIMIT_NOFILE: 64},
        script='exec "$@" <&-',
        hostile=True,
    ),
    Surrounding(
        "a system that can only be read",
        script='mount -t tmpfs none "$ROOM" && mount -o remount,bind,ro / && mount -t tmpfs -o ro none /dev/shm && '
        'cd / && export HOME=/ TMPDIR=/tmp MPLCONFIGDIR="$ROOM" && "$@"',
        namespace=True,
    ),
    Surrounding("1 GiB of address space", "any", limits={resource.RLIMIT_AS: 2**30}),
    Surrounding("stdout and stderr closed", "any", script='exec "$@" >&- 2>&-'),
    Surrounding("stdout full", "any", script='exec "$@" >/dev/full'),
    Surrounding("who reads stdout goes after a line", "any", script='"$@" | head -n 1 >/dev/null'),
    Surrounding("who reads a document goes in its midst", "any", script='"$@" --json | head -c 200 >/dev/null'),
    Surrounding("files that nobody may read or write (umask 777)", "any", script='umask 777; exec "$@"'),
    *(
        Surrounding(
            f"a disk of {size} KiB",
            "any",
            script=f'mount -t tmpfs -o size={size}k none "$ROOM" && {_ENDS_IN_ROOM}',
            namespace=True,
            output=lambda _out, _trace: None,
        )
        for size in DISKS
    ),
    Surrounding("files of at most 5,000 bytes", "any", limits={resource.RLIMIT_FSIZE: 5000}),
    Surrounding("a folder in the place of the output", "line", output=_folder),
    Surrounding("a pipe in the place of the output", "line", output=lambda out, _: os.mkfifo(out)),
    Surrounding("a link to a device", "line", output=_link(lambda _: Path("/dev/full"))),
    Surrounding("a link to /dev/stdout", "line", output=_link(lambda _: Path("/dev/stdout"))),
    Surrounding("a link to the anchor", "line", output=_link(lambda trace: trace / "traces.otf2")),
    Surrounding("a link to events", "line", output=_link(lambda trace: next((trace / "traces").glob("*.evt")))),
    Surrounding("the trace is cut meanwhile", "any", meanwhile=_cut),
    Surrounding("the trace is replaced meanwhile", "any", meanwhile=_replace),
    Surrounding("the folder of the output is removed meanwhile", "any", meanwhile=_remove_room),
)


def outputs(command: tuple[str, ...]) -> list[str]:
    """Return what stands for outputs in a command."""
    return [part for part in command if "{out}" in part]


def run(
    command: tuple[str, ...], trace: Path, surrounding: Surrounding, expected: str | None, chance: random.Random
) -> tuple[str, str]:
    """Run a command once; return what is wrong, or nothing, and what it printed."""
    with tempfile.TemporaryDirectory(dir=trace.parent) as place:
        room = Path(place) / "room"
        room.mkdir()
        read = trace
        if surrounding.hostile:
            read = Path(os.fsdecode(os.fsencode(place) + b"/tr\xff\xe4ce\x1b[31m"))
        elif surrounding.meanwhile or surrounding.output:
            read = Path(place) / "trace"
        if read != trace:
            shutil.copytree(trace, read)
        before = Path(place) / "before"
        shutil.copytree(read, before)
        out = room / "written"
        names = [Path(part.format(out=out)) for part in outputs(command)]
        if surrounding.output:
            for name in names:
                surrounding.output(name, read)
        there = sorted(path.name for path in room.iterdir())
        parts = [part.format(out=out, other=OTHER, trace=read) for part in command]
        arguments = parts if "{trace}" in command else [parts[0], str(read), *parts[1:]]
        iostrata = str(Path(sys.executable).parent / "iostrata")
        shell = ["sh", "-c", surrounding.script, "sh", iostrata, *arguments]

        def restrict() -> None:
            for kind, most in surrounding.limits.items():
                resource.setrlimit(kind, (most, most))

        process = subprocess.Popen(
            ["unshare", "-rm", *shell] if surrounding.namespace else shell,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "ROOM": str(room), "OPENBLAS_NUM_THREADS": "1", **surrounding.environment},
            preexec_fn=restrict,
            cwd=place if surrounding.namespace else room,
        )
        if surrounding.meanwhile:
            surrounding.meanwhile(read, chance)
        try:
            printed, said = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            return "goes on and on", ""
        status = process.returncode
        text = printed.decode("utf-8", "replace").replace(str(read), "TRACE").replace(str(room), "ROOM")
        lines = said.decode("utf-8", "replace").splitlines()
        faults = _said(status, lines, surrounding, text, expected)
        if b"\x1b" in printed + said:
            faults.append("a control sequence")
        room.mkdir(exist_ok=True)
        left = sorted(path.name for path in room.iterdir())
        of_disk = room.with_suffix(".left")
        if of_disk.exists():
            left = of_disk.read_text().split()
        elif not surrounding.output and not (surrounding.meanwhile and _is_copy(out, read)):
            faults += unreadable(room)
        # What is whole stays where only the line about it could not be printed.
        if status and left != there and (left[0].startswith(".") or "stdout" not in surrounding.name):
            faults.append(f"left {[name for name in left if name not in there]}")
        if not surrounding.meanwhile and not _same(before, read):
            faults.append("CHANGED THE TRACE")
        return "; ".join(faults), text


def _said(status: int, lines: list[str], surrounding: Surrounding, text: str, expected: str | None) -> list[str]:
    errors = [line for line in lines if not line.startswith(("iostrata: warning: ", "iostrata: note: "))]
    if status == 0:
        if errors:
            return [f"success that says {errors[-1][:200]!r}"]
        if surrounding.outcome == "line":
            return ["success"]
        if surrounding.outcome == "same" and expected is not None and text != expected:
            return ["prints something else"]
        return []
    if surrounding.outcome in ("same", "success"):
        return [f"exit code {status}: {' '.join(lines)[-300:]!r}"]
    if status != 1 or len(errors) != 1 or not errors[0].startswith("iostrata: error: "):
        return [f"exit code {status}, {' '.join(errors)[-300:]!r}"]
    return []


def _same(first: Path, second: Path) -> bool:
    names = [path.relative_to(first) for path in first.rglob("*") if path.is_file()]
    return not any(filecmp.cmpfiles(first, second, [str(name) for name in names], shallow=False)[1:])


def _is_copy(out: Path, trace: Path) -> bool:
    """Tell whether the event files of an archive are those of the trace, which otf2-print may give up at by now."""
    events = [path.name for path in (trace / "traces").glob("*.evt")]
    return out.is_dir() and not any(filecmp.cmpfiles(out, trace / "traces", events, shallow=False)[1:])


def twice(command: tuple[str, ...], trace: Path) -> str:
    """Run a command twice at once onto one output; return what is wrong, or nothing."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "written"
        parts = [part.format(out=out, other=OTHER) for part in command]
        shell = [str(Path(sys.executable).parent / "iostrata"), parts[0], str(trace), *parts[1:]]
        runs = [subprocess.Popen(shell, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        said = [run.communicate(timeout=LONGEST)[1].decode() for run in runs]
        faults = unreadable(Path(place))
        faults += [path.name for path in Path(place).iterdir() if path.name.startswith(".")]
        statuses = [run.returncode for run in runs]
        if 0 not in statuses:
            faults.append(f"neither succeeds: {said}")
        for status, text in zip(statuses, said, strict=True):
            if status not in (0, 1) or (status and text.count("iostrata: error: ") != 1) or "Traceback" in text:
                faults.append(f"exit code {status}: {text[-300:]!r}")
        return "; ".join(faults)


def main() -> None:
    """Read the command line, run, write the table, and fail if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", type=Path, default=FIXTURES / "serial1")
    parser.add_argument("--only", default="", help="surroundings whose name contains this")
    parser.add_argument("--command", default="", help="commands that contain this")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    namespaces = subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode == 0
    commands = [command for command in COMMANDS if options.command in " ".join(command)]
    rows, found = [], 0
    with tempfile.TemporaryDirectory() as place:
        trace = Path(shutil.copytree(options.trace, Path(place) / "trace"))
        expected: dict[tuple[str, ...], str] = {}
        for command in commands:
            fault, expected[command] = run(command, trace, Surrounding("nothing"), None, chance)
            if fault:
                raise SystemExit(f"{' '.join(command)} fails by itself: {fault}")
        for surrounding in SURROUNDINGS:
            if options.only not in surrounding.name or (surrounding.namespace and not namespaces):
                continue
            chosen = [one for one in commands if outputs(one) or not surrounding.output]
            faults = []
            for command in chosen:
                # How often `watch` looks depends on how busy the machine is.
                known = None if command[0] == "watch" else expected[command]
                fault, _ = run(command, trace, surrounding, known, chance)
                if fault:
                    faults.append(f"  {' '.join(command)}: {fault}")
            rows.append(_row(surrounding.name, len(chosen), faults))
            found += len(faults)
        if options.only in "two runs at once":
            chosen = [one for one in commands if outputs(one)]
            faults = [f"  {' '.join(one)}: {fault}" for one in chosen if (fault := twice(one, trace))]
            rows.append(_row("two runs at once onto one output", len(chosen), faults))
            found += len(faults)
    if not options.only and not options.command:
        missing = "" if namespaces else " Without mount namespaces, so no disks and no read-only system."
        body = [
            f"Each command once in each of these, on `{options.trace.name}`.{missing} A fault is a traceback, more",
            "than a line of error, something left behind, a changed trace, or other output than by itself where it",
            "should be the same.",
            "",
            "| what is in the way | commands | faults |",
            "|---|---|---|",
            *rows,
        ]
        write_section(TITLE, "\n".join(body))
    sys.exit(1 if found else 0)


def _row(name: str, count: int, faults: list[str]) -> str:
    row = f"| {name} | {count} | {len(faults)} |"
    print(row, *faults, sep="\n", flush=True)
    return row


if __name__ == "__main__":
    main()
