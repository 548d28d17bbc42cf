"""Bad input of every kind but OTF2, read as a user would: ``python benchmarks/damage/inputs.py --count 500``.

Tables, TMIO, DFTracer, server logs, tables of metrics, limits, schedules, streams to watch and collections are made
here; those of other recorders (Darshan, Recorder's Parquet) come ``--from FOLDER``. Each is made bad from a number, by
values that no reader likes in fields of its text or by damaged bytes, and handed to a command. A fault is an
exception, a warning of a library on stderr, more than one line of an error, an exit code that means nothing, more
than a minute of the processor's time, or ten minutes of waiting.
"""

import argparse
import contextlib
import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from mutations import MUTATIONS

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
SECONDS: Final = 60
WAITING: Final = 600
"""Seconds of the processor, and by the clock: a busy machine makes a command no hang."""
MEMORY: Final = 6 * 2**30
"""Bytes of address space: what asks for more gets a MemoryError."""
VALUES: Final = (
    "", "²", "٣", "-1", "0", "1e999", "-1e999", "nan", "inf", "-inf", "null", "true", "9" * 400, "18446744073709551616",
    "9223372036854775807", "-9223372036854775809", "1e308", "5e-324", "0x10", "1_000", " 7 ", "1,5", '"', "\\", "\x00",
    "[]", "{}", "[[[[", "é\u202e", "\x1b[31m", "a\nb", "1.5.5", "--", "1970-01-01", "x" * 70_000,
)  # fmt: skip
"""What is put in the place of a number or a word."""


def _text_rows(header: str, rows: list[str]) -> bytes:
    return "\n".join([header, *rows, ""]).encode()


def _operations() -> list[tuple[Any, ...]]:
    return [
        (
            rank,
            "POSIX",
            "/scratch/out",
            "write" if step % 2 else "read",
            step + 0.1 * rank,
            step + 0.3,
            4096 * (step + 1),
        )
        for step in range(12)
        for rank in range(3)
    ]


def _table_csv(folder: Path) -> tuple[Path, ...]:
    rows = [",".join(map(str, row)) for row in _operations()]
    path = folder / "ops.csv"
    path.write_bytes(_text_rows("rank,layer,file,mode,start,end,bytes", rows))
    return (path,)


def _table_lines(folder: Path) -> tuple[Path, ...]:
    names = ("rank", "layer", "file", "mode", "start", "end", "bytes")
    path = folder / "ops.jsonl"
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in _operations()))
    return (path,)


def _table_zipped(folder: Path) -> tuple[Path, ...]:
    (plain,) = _table_csv(folder)
    path = folder / "ops.csv.gz"
    path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()
    return (path,)


def _table_parquet(folder: Path) -> tuple[Path, ...]:
    import pyarrow
    import pyarrow.parquet

    names = ("rank", "layer", "file", "mode", "start", "end", "bytes")
    columns = dict(zip(names, map(list, zip(*_operations(), strict=True)), strict=True))
    path = folder / "ops.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return (path,)


def _tmio(folder: Path) -> tuple[Path, ...]:
    path = folder / "tmio.jsonl"
    data = {"number_of_ranks": 4, "total_bytes": 4096, "max_bytes_per_rank": 1024, "max_io_ops_in_phase": 1}
    bandwidth = {
        "b_rank_avr": [100.0, 110.0, 90.0], "t_rank_s": [0.5, 1.5, 2.5], "t_rank_e": [0.7, 1.8, 2.9],
    }  # fmt: skip
    path.write_text(
        "".join(json.dumps({kind: {**data, "bandwidth": bandwidth}}) + "\n" for kind in ("write_sync", "read_sync"))
    )
    return (path,)


def _dftracer_lines() -> bytes:
    calls = [
        {"id": str(number), "name": name, "cat": "POSIX", "pid": number % 3, "tid": number % 3,
         "ts": 1000 * number, "dur": 400, "ph": "X",
         "args": {"hostname": "n1", "fname": "/scratch/a", "ret": 4096, "count": "4096"}}
        for number, name in enumerate(["open64", "write", "read", "lseek64", "close"] * 6)
    ]  # fmt: skip
    return b"[\n" + b"".join(json.dumps(call).encode() + b"\n" for call in calls) + b"]\n"


def _dftracer(folder: Path) -> tuple[Path, ...]:
    path = folder / "app.pfw"
    path.write_bytes(_dftracer_lines())
    return (path,)


def _dftracer_zipped(folder: Path) -> tuple[Path, ...]:
    path = folder / "app.pfw.gz"
    path.write_bytes(gzip.compress(_dftracer_lines(), mtime=0))
    return (path,)


def _server_log(folder: Path) -> tuple[Path, ...]:
    log, jobs = folder / "log.csv", folder / "jobs.csv"
    log.write_bytes(
        _text_rows("time,bytes_per_second", [f"{time},{1e6 if time % 40 < 10 else 1e3}" for time in range(400)])
    )
    jobs.write_bytes(_text_rows("name,start,end", [f"run{k},{k * 80},{k * 80 + 80}" for k in range(4)]))
    return log, jobs


def _server_log_hdf5(folder: Path) -> tuple[Path, ...]:
    import h5py
    import numpy as np

    _, jobs = _server_log(folder)
    log = folder / "log.h5"
    with h5py.File(log, "w") as file:
        file["time"] = np.arange(400.0)
        file["bytes_per_second"] = np.where(np.arange(400) % 40 < 10, 1e6, 1e3)
    return log, jobs


def _metrics(folder: Path) -> tuple[Path, ...]:
    rows = [
        f"job{job},node{node},fs,{metric},{600 * time + 5},{job * 10 + time}"
        for job in range(3) for node in range(2) for metric in ("read_bytes", "write_bytes") for time in range(4)
    ]  # fmt: skip
    path = folder / "metrics.csv"
    path.write_bytes(_text_rows("job,node,filesystem,metric,time,value", rows))
    return (path,)


def _limits(folder: Path) -> tuple[Path, ...]:
    (metrics,) = _metrics(folder)
    limits = folder / "limits.json"
    _command(["assess", str(metrics), "--train", "-o", str(limits)])
    return limits, metrics


def _schedule(folder: Path) -> tuple[Path, ...]:
    rows = ["a,10,0.3,0,5,0.1", "b,12,0.2,1,5,0", "c,100,0.1,2,3,0.2"]
    path = folder / "jobs.csv"
    path.write_bytes(_text_rows("job,period_s,io_share,release_s,iterations,compute_jitter", rows))
    return (path,)


def _stream(folder: Path) -> tuple[Path, ...]:
    path = folder / "stream.jsonl"
    lines = [
        {"layer": "POSIX", "rank": rank, "mode": "write", "start": 2.0 * step, "end": 2.0 * step + 0.3, "bytes": 4096}
        for step in range(15)
        for rank in range(2)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return (path,)


def _collection(folder: Path) -> tuple[Path, ...]:
    runs = folder / "runs"
    _command(["collect", str(FIXTURES / "serial1"), "-o", str(runs)])
    return tuple(sorted(runs.rglob("*.parquet")))


_READ: Final = (("layers",), ("periods",), ())
KINDS: Final[dict[str, tuple[Callable[[Path], tuple[Path, ...]], Callable[[tuple[Path, ...]], list[list[str]]]]]] = {
    **{
        name: (make, lambda files: [[*words, str(files[0])] for words in _READ])
        for name, make in {
            "table as CSV": _table_csv, "table as JSON lines": _table_lines, "table as CSV, zipped": _table_zipped,
            "table as Parquet": _table_parquet, "TMIO": _tmio, "DFTracer": _dftracer,
            "DFTracer, zipped": _dftracer_zipped,
        }.items()
    },
    "server log": (
        _server_log, lambda files: [["signature", "--log", str(files[0]), "--jobs", str(files[1])]],
    ),
    "server log in HDF5": (
        _server_log_hdf5, lambda files: [["signature", "--log", str(files[0]), "--jobs", str(files[1])]],
    ),
    "metrics": (_metrics, lambda files: [["assess", str(files[0])]]),
    "limits": (_limits, lambda files: [["assess", str(files[1]), "--limits", str(files[0])]]),
    "schedule": (_schedule, lambda files: [["schedule", str(files[0])]]),
    "stream": (_stream, lambda files: [["watch", str(files[0]), "--once"]]),
    "collection": (_collection, lambda files: [["signature", str(files[0].parent)], ["diff", str(files[0].parent)]]),
}  # fmt: skip
"""What makes the sound files of a kind, and which commands read them."""

_FIELD: Final = re.compile(rb"[\w.+-]+")


def spoiled(data: bytes, chance: random.Random) -> bytes:
    """Return what a file holds, changed: fields of its text, its lines, or its bytes."""
    kind = chance.random()
    text = b"\0" not in data[:1000]
    if text and kind < 0.6:
        for _ in range(chance.choice((1, 1, 2, 5))):
            fields = list(_FIELD.finditer(data))
            if fields:
                found = chance.choice(fields)
                value = chance.choice(VALUES).encode("utf-8", "surrogatepass")
                data = data[: found.start()] + value + data[found.end() :]
        return data
    if text and kind < 0.8:
        lines = data.split(b"\n")
        row = chance.randrange(len(lines))
        cells = lines[row].split(b",")
        change = chance.choice(("drop", "repeat", "swap", "shorter", "longer", "only"))
        if change == "drop":
            del lines[row]
        elif change == "repeat":
            lines[row:row] = [lines[row]] * chance.choice((1, 1000))
        elif change == "swap":
            chance.shuffle(lines)
        elif change == "only":
            lines = lines[: chance.choice((1, 2))]
        else:
            lines[row] = b",".join(cells[:-1] if change == "shorter" else [*cells, b"7"])
        return b"\n".join(lines)
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2))):
        if changed:
            chance.choice(MUTATIONS)(changed, chance)
    return bytes(changed)


class _TooLong(BaseException):
    """A command took too long."""


def _alarm(_signal: int, _frame: object) -> None:
    raise _TooLong


def _command(words: list[str]) -> tuple[int | None, str, str]:
    """Run a command in this process; give its exit code, None where it failed, stderr, and what is wrong."""
    from iostrata.cli.run import run

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        kept = [os.dup(1), os.dup(2)]
        wrong, code = "", None
        sys.stdout.flush()
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(WAITING)
        try:
            with (
                open(1, "w", closefd=False) as stdout,
                open(2, "w", closefd=False) as stderr,
                contextlib.redirect_stdout(stdout),
                contextlib.redirect_stderr(stderr),
            ):
                code = run(words)
        except _TooLong:
            wrong = f"more than {SECONDS} s of the processor, or {WAITING} by the clock"
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except Exception:  # noqa: BLE001
            wrong = " | ".join(traceback.format_exc().strip().splitlines()[-3:])
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)
            for number, fd in zip((1, 2), kept, strict=True):
                os.dup2(fd, number)
                os.close(fd)
        err.seek(0)
        return code, err.read().decode("utf-8", "replace"), wrong


def fault(words: list[str]) -> str:
    """Run a command; return what is wrong with how it ends, nothing where it is as promised."""
    code, told, wrong = _command(words)
    lines = [line for line in told.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("iostrata: error")]
    if wrong or code not in (0, 1, 2):
        return wrong or f"exit code {code}"
    if code and (len(errors) != 1 or lines[-1] != errors[0]):
        return f"exit code {code} with {lines[-3:]}"
    strange = [line for line in lines if not line.startswith("iostrata: ")]
    return f"on stderr: {strange[:2]}" if strange else ""


def main() -> None:
    """Make bad inputs, hand them to commands, and fail if one ends otherwise than promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=[*KINDS, "all"], default="all")
    parser.add_argument("--from", dest="source", type=Path, help="spoil the files of this folder instead")
    parser.add_argument("--count", type=int, default=500, help="inputs of a kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    options = parser.parse_args()
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, _alarm)
    kinds = list(KINDS) if options.kind == "all" else [options.kind]
    if options.source is not None:
        kinds = [str(path) for path in sorted(options.source.rglob("*")) if path.is_file()]
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as room:
        for kind in kinds:
            base, hard = Path(room) / "sound", resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
            shutil.rmtree(base, ignore_errors=True)
            base.mkdir()
            if options.source is None:
                make, commands = KINDS[kind]
                sound = make(base)
            else:
                sound, commands = (Path(shutil.copy(kind, base)),), KINDS["TMIO"][1]
            contents = {path: path.read_bytes() for path in sound}
            begins = [fault(words) for words in commands(sound)]
            if any(begins):
                print(f"{kind}: the sound one: {begins}", flush=True)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
            for number in range(options.first, options.first + options.count):
                chance = random.Random(f"{Path(kind).name} {number}")
                path = chance.choice(sound[:2])
                path.chmod(0o644)
                path.write_bytes(spoiled(contents[path], chance))
                found = fault(chance.choice(commands(sound)))
                outcomes["fault" if found else "as promised"] += 1
                if found:
                    print(f"{kind} {number}: {found}"[:400], flush=True)
                path.write_bytes(contents[path])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{outcomes['fault']} faults in {outcomes.total()} inputs of {len(kinds)} kinds, at most {peak:.0f} MiB")
    sys.exit(1 if outcomes["fault"] else 0)


if __name__ == "__main__":
    main()
