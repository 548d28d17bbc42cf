"""Try an installed wheel with the usual commands, where no numba compiles loops: ``try_wheel.py FIXTURES``."""

import contextlib
import importlib.util
import io
import json
import sys
import tempfile
from pathlib import Path

from iostrata.cli import main

fixtures = Path(sys.argv[1])
assert importlib.util.find_spec("numba") is None, "numba is here, so nothing is tried"
with tempfile.TemporaryDirectory() as place:
    for command in (
        ("overview",),
        ("layers", "--json"),
        ("layers", "--memory", "500M", "--json"),
        ("loops", "--json"),
        ("periods", "--method", "ftio", "--json"),
        ("compare", "--json"),
        ("report", "-o", f"{place}/page.html"),
        ("convert", f"{place}/all.h5"),
        ("convert", f"{place}/all.perfetto.json"),
        ("convert", f"{place}/ARCHIVE.otf2"),
    ):
        for archive in ("ncckpt4", "nonblocking4", "threads2"):
            said, given = io.StringIO(), [one.replace("ARCHIVE", archive) for one in command[1:]]
            with contextlib.redirect_stdout(said):
                status = main([command[0], str(fixtures / archive), *given])
            assert status == 0, (command, archive, status)
            if "--json" in command:
                json.loads(said.getvalue())
    # Names are numbered through two views of the same letters.
    names = [("open", "POSIX"), ("read", "POSIX"), ("write", "STDIO"), ("read", "POSIX"), ("fwrite", "STDIO")] * 40
    lines = (
        {"id": at, "name": name, "cat": kind, "pid": 1, "tid": 1, "ts": 10 * at, "dur": 5, "ph": "X"}
        | {"args": {"ret": 10, "fhash": "a"}}
        for at, (name, kind) in enumerate(names)
    )
    trace = Path(place, "made.pfw")
    trace.write_text("[\n" + "\n".join(map(json.dumps, lines)) + "\n")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert main(["layers", str(trace), "--files", "all", "--json"]) == 0
    found = {(one["layer"], one["direction"]): one["operations"] for one in json.loads(said.getvalue())["layers"]}
    assert found == {("ISOC", "write"): 80, ("POSIX", "read"): 80}, found
print(f"the wheel works without numba in {sys.executable}")
