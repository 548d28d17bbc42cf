"""What a machine can do to a run: few open files, little memory, no room, no home, and others at the same files."""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

LOCATIONS = 4096
EXPORTS = (".h5", ".parquet", ".perfetto.json", ".otf2", ".html")


@pytest.fixture(scope="module")
def many_locations(made: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write an archive of many locations, all like the first of the archive with every record."""
    base = made.base()
    (like,) = (one for one in base.definitions if one.kind == made.records.LOCATION and one.values[0] == 0)
    locations = [like.with_value(0, number) for number in range(LOCATIONS)]
    definitions = [one for one in base.definitions if one.kind != made.records.LOCATION] + locations
    anchor = bytearray(base.anchor)
    anchor[30:46] = LOCATIONS.to_bytes(8, "little") + len(definitions).to_bytes(8, "little")
    folder = tmp_path_factory.mktemp("many") / "archive"
    contents = replace(base, anchor=anchor, definitions=definitions)
    made.records.write(contents, folder)
    for number in range(LOCATIONS):
        for suffix in ("def", "evt"):
            if number:
                shutil.copyfile(folder / "traces" / f"0.{suffix}", folder / "traces" / f"{number}.{suffix}")
    return folder


@pytest.fixture
def run_within(command_path: str, environment: dict[str, str]) -> Callable[..., Any]:
    """Return a function that runs the command within limits of the system (`resource.RLIMIT_...` → number)."""

    def call(*arguments: object, limits: Any = None, **options: Any) -> Any:
        def restrict() -> None:
            for kind, most in (limits or {}).items():
                resource.setrlimit(kind, (most, most))

        options.setdefault("env", environment)
        return subprocess.run(
            [command_path, *map(str, arguments)],
            capture_output=True,
            text=True,
            preexec_fn=restrict,
            check=False,
            **options,
        )

    return call


@pytest.mark.parametrize("engine", ["direct", "library"])
def test_many_locations_with_few_open_files_in_little_memory(
    run_within: Callable[..., Any], many_locations: Path, engine: str
) -> None:
    limits = {resource.RLIMIT_NOFILE: 64, resource.RLIMIT_AS: 2**30}
    done = run_within("layers", many_locations, "--json", "--engine", engine, limits=limits)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["trace"]["locations"] == LOCATIONS
    assert not found["damage"]["damaged"]
    assert {layer["operations"] for layer in found["layers"]} == {LOCATIONS, 5 * LOCATIONS, 6 * LOCATIONS}


@pytest.mark.parametrize("suffix", EXPORTS)
def test_a_limit_of_the_file_size_leaves_nothing(
    run_within: Callable[..., Any], fixtures: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"x{suffix}"
    arguments = (
        ("report", fixtures / "serial1", "-o", out) if suffix == ".html" else ("convert", fixtures / "serial1", out)
    )
    done = run_within(*arguments, limits={resource.RLIMIT_FSIZE: 2000})
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("iostrata: error: ")
    assert str(out) in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_neither_home_nor_room_for_temporary_files(
    run_within: Callable[..., Any], environment: dict[str, str], fixtures: Path, tmp_path: Path
) -> None:
    without = {**environment, "HOME": "/proc/none", "TMPDIR": "/proc/none", "XDG_CACHE_HOME": "/proc/none"}
    done = run_within("periods", fixtures / "serial1", "--plot", tmp_path / "x.png", env=without)
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stderr.splitlines() if not line.startswith("iostrata: warning")]
    assert (tmp_path / "x.png").stat().st_size > 1000


def test_a_working_folder_that_is_gone(
    command_path: str, environment: dict[str, str], fixtures: Path, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {command_path} layers {fixtures / 'serial1'}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "iostrata: error: no working folder (No such file or directory); change into one that exists\n"
    )


@pytest.mark.parametrize("suffix", [".h5", ".html"])
def test_two_runs_at_once_onto_one_file(
    command_path: str, environment: dict[str, str], fixtures: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"x{suffix}"
    name = ("report", "-o") if suffix == ".html" else ("convert",)
    command = [command_path, name[0], str(fixtures / "serial1"), *name[1:], str(out)]
    runs = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [run.wait() for run in runs] == [0, 0]
    assert list(tmp_path.iterdir()) == [out]
    start = {".h5": b"\x89HDF", ".html": b"<!do"}[suffix]
    assert out.read_bytes()[:4].lower() == start.lower()


@pytest.mark.parametrize("suffix", EXPORTS)
def test_a_folder_a_device_and_a_pipe_in_the_place_of_the_output(
    run: Any, fixtures: Path, tmp_path: Path, suffix: str
) -> None:
    trace = fixtures / "serial1"
    for kind in ("folder", "device", "pipe"):
        out = tmp_path / f"{kind}{suffix}"
        if kind == "folder":
            out.mkdir()
        elif kind == "device":
            out.symlink_to("/dev/full")
        else:
            os.mkfifo(out)
        done = run("report", trace, "-o", out) if suffix == ".html" else run("convert", trace, out)
        assert done.returncode == 1, kind
        assert done.stderr.count("\n") == 1
        assert str(out) in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{one}{suffix}" for one in ("device", "folder", "pipe")
    ]


@pytest.mark.parametrize("encoding", ["C", "C.UTF-8"])
def test_names_that_are_no_utf_8_in_any_locale(
    environment: dict[str, str], command_path: str, fixtures: Path, tmp_path: Path, encoding: str
) -> None:
    folder = os.fsencode(tmp_path) + b"/tr\xff\xe4ce\x1b[31m"
    shutil.copytree(os.fsencode(fixtures / "serial1"), folder)
    env = {**environment, "LC_ALL": encoding, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    for arguments in ([b"layers", folder], [b"convert", folder, folder + b".parquet", b"--json"]):
        done = subprocess.run([os.fsencode(command_path), *arguments], capture_output=True, env=env, check=False)
        assert done.returncode == 0, done.stderr
        assert b"\x1b" not in done.stdout + done.stderr
        done.stdout.decode("ascii" if encoding == "C" else "utf-8")
    assert os.path.getsize(folder + b".parquet") > 1000


def test_a_trace_cut_after_it_was_opened_gives_what_is_left_or_a_line(copy_of: Any) -> None:
    import iostrata

    for cut in (0, 18, 1000):
        folder = copy_of("serial1")
        trace = iostrata.open_trace(folder)
        (events,) = (folder / "traces").glob("*.evt")
        os.truncate(events, cut)
        with pytest.raises(iostrata.TraceError, match="has changed since it was opened"):
            trace.breakdown("function")
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    "command",
    [
        "diff {a} {b} -o {out}.html",
        "signature {a} {a} -o {out}.html",
        "assess {a} {b} --segment 1 -o {out}.html",
        "schedule {b} -o {out}.json",
        "collect {a} -o {out}",
    ],
)
def test_a_limit_of_the_file_size_leaves_nothing_of_many_runs(
    run_within: Callable[..., Any], fixtures: Path, tmp_path: Path, command: str
) -> None:
    places = {"a": fixtures / "serial1", "b": fixtures / "ckpt4", "out": tmp_path / "x"}
    done = run_within(
        *(part.format(**places) for part in command.split()), limits={resource.RLIMIT_FSIZE: 100}, cwd=tmp_path
    )
    assert done.returncode == 1, done.stdout
    assert done.stderr.splitlines()[-1].startswith("iostrata: error: ")
    assert "Traceback" not in done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
