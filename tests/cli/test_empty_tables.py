"""Archives that define no file, no handle, no process or so: each command shows the rest or says what is missing."""

import importlib.util
from pathlib import Path

import pytest

_PATH = Path(__file__).parents[1] / "archives" / "sparse.py"
_SPEC = importlib.util.spec_from_file_location("sparse_archive", _PATH)
sparse = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(sparse)

COMMANDS = [
    ["info"],
    ["layers", "--by", "node"],
    ["handles"],
    ["periods", "--by", "rank"],
    ["compare"],
    ["report", "-o", "{folder}/x.html"],
    *(["convert", f"{{folder}}/x{suffix}"] for suffix in (".h5", ".parquet", ".perfetto.json", ".otf2")),
    ["convert", "{folder}/y.parquet", "--memory", "300M"],
    ["overview"],
    ["watch", "--replay"],
    ["collect", "-o", "{folder}/runs"],
    *([name, "{again}", "-o", f"{{folder}}/{name}.html"] for name in ("diff", "signature")),
    ["assess", "--segment", "1", "-o", "{folder}/assess.html"],
    ["schedule", "-o", "{folder}/sets.json"],
]


@pytest.mark.parametrize("kind", sparse.KINDS)
def test_every_command_copes_with_a_table_of_no_rows(run, tmp_path, kind):
    archive, again = (sparse.write_sparse(tmp_path / name, frozenset([kind])) for name in ("archive", "again"))
    for command, *arguments in COMMANDS:
        files = [] if command == "info" else ["--files", "all"]
        given = [text.format(folder=tmp_path, again=again) for text in arguments]
        done = run(*([command, *given, archive] if command == "watch" else [command, archive, *given]), *files)
        assert done.returncode in (0, 1)
        lines = done.stderr.splitlines()
        kinds = [line.startswith("iostrata: warning: ") for line in lines]
        assert kinds in ([True] * len(lines), [True] * (len(lines) - 1) + [False]), done.stderr
        assert lines[-1:] == [line for line in lines if line.startswith("iostrata: error: ")] or not done.returncode
        if kind in ("region", "file", "group", "node") and command not in ("assess", "schedule"):
            assert done.returncode == 0, done.stderr
    if kind not in ("event", "paradigm", "handle"):
        assert run("layers", tmp_path / "y.parquet", "--files", "all").returncode == 0
