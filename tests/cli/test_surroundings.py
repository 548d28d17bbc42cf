"""What surrounds a run and can be in its way, word by word, and where each is tested.

============================================  ==========================================================================
full disk at each write                       here `…on_a_full_disk…`, `…stdout_is_full…`, `…file_size…`;
                                              `export/hdf5/test_failures.py` (each place of an HDF5 file),
                                              `export/timeline/test_otf2_archive.py` (each write of an archive),
                                              `test_exit_codes.py` (stdout)
file size limit                               here `…file_size…`, `test_exit_codes.py` (stdout)
64 open files with 4,096 locations, 1 GiB     here `…many_locations…`, `…missing_at_once…`
HOME, TMPDIR, locales, names not UTF-8        here `…missing_at_once…`, `…no_utf_8…`, `…can_only_be_read…`
working folder                                here `…working_folder…`, `…can_only_be_read…`
compile cache                                 `model/test_kernels.py` (full, foreign, read-only, cut, zeroed, stale),
                                              `test_wheel.py` (two wheels)
SIGINT, SIGTERM, SIGHUP, SIGKILL              `test_exit_codes.py`, `test_watch.py`,
                                              `runs/collection/test_collecting.py`;
                                              `benchmarks/damage/interrupts.py` at random moments
stdout closed early                           here `…reader_goes_away…`; `test_exit_codes.py`, `test_watch.py`
outputs onto links, devices, folders, inputs  here `…place_of_the_output…`, `…place_of_any_output…`;
                                              `test_outputs_that_are_inputs.py`, `export/test_atomic.py`
two runs at once                              here `…two_runs…`, `runs/collection/test_collecting.py`
archive that shrinks or is replaced           here `…cut_after…`, `…replaced_while…`
============================================  ==========================================================================

`benchmarks/damage/surroundings.py` runs every command in each of these as a process.
"""

import itertools
import json
import os
import resource
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

LOCATIONS = 4096
WRITING = (
    *(f"convert {{trace}} {{out}}{suffix}" for suffix in (".h5", ".nc", ".parquet", ".perfetto.json", ".otf2")),
    "convert {trace} {out}.otf2 --rewrite",
    "convert {trace} {out}.ftio.jsonl --layer POSIX",
    "report {trace} -o {out}.html",
    "periods {trace} --plot {out}.svg",
    "diff {trace} {other} -o {out}.html",
    "signature {trace} {other} -o {out}.html",
    "signature {trace} {other} -o {out}.h5",
    "assess {trace} --segment 1 -o {out}.html",
    "assess {trace} --segment 1 --train -o {out}.json",
    "schedule {other} -o {out}.json",
    "schedule {other} --plot {out}.svg",
    "signature {trace} {other} --plot {out}.svg",
)
"""Every command that writes a file."""
PRINTING = (
    *("overview {trace}", "info {trace}", "layers {trace}", "handles {trace}", "periods {trace}", "compare {trace}"),
    *("diff {trace} {other}", "signature {trace} {other}", "assess {trace} --segment 1", "schedule {other}"),
    *(
        "watch --replay {trace}",
        "collect {trace} -o {out} --workers 1",
        "report {trace} -o {out}.html",
        "convert {trace} {out}.h5",
    ),
    "loops {trace}",
)
"""Every command that reads a trace."""
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

        # Within a limit of the file size Python before 3.12.8 keeps half of a compiled module, and fails on it later.
        options.setdefault("env", {**environment, "PYTHONDONTWRITEBYTECODE": "1"})
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


@pytest.mark.parametrize("command", ["convert {trace} {out}.otf2 --rewrite", "collect {trace} -o {out} --workers 1"])
def test_a_mask_takes_no_rights_from_the_owner(
    command_path: str, environment: dict[str, str], fixtures: Path, tmp_path: Path, command: str
) -> None:
    script = 'umask 777 && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", command_path, *given(command, fixtures, tmp_path / "x")],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    written = [path for path in tmp_path.rglob("*") if not path.is_symlink()]
    assert len(written) > 3
    for path in written:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


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


@pytest.mark.parametrize("engine", ["direct", "library"])
def test_a_later_reading_that_finds_less_than_the_first_is_no_answer(copy_of: Any, engine: str) -> None:
    import iostrata

    folder = copy_of("ncckpt4")
    trace = iostrata.open_trace(folder, engine=engine)
    events = folder / "traces" / "1.evt"
    os.truncate(events, events.stat().st_size // 2)
    with pytest.raises(iostrata.TraceError, match="has changed since it was opened"):
        _ = trace.calls.totals


@pytest.mark.parametrize(
    "command",
    [
        "diff {a} {b} -o {out}.html",
        "signature {a} {a} -o {out}.html",
        "assess {a} {b} --segment 1 -o {out}.html",
        "schedule {b} -o {out}.json",
        "collect {a} -o {out} --workers 1",
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


def given(command: str, fixtures: Path, out: Path, trace: Path | None = None) -> list[str]:
    """Return the arguments of a command."""
    places = {"trace": trace or fixtures / "serial1", "other": fixtures / "ckpt4", "out": out}
    return [part.format(**places) for part in command.split()]


ALL_MISSING = (
    *("overview {trace}", "periods {trace} --plot {out}.svg", "convert {trace} {out}.parquet", "report {trace}"),
    *("collect {trace} -o {out} --workers 1", "diff {trace} {other} -o {out}.html"),
)


@pytest.mark.parametrize("command", ALL_MISSING)
def test_nearly_everything_missing_at_once(
    command_path: str, environment: dict[str, str], fixtures: Path, tmp_path: Path, command: str
) -> None:
    """Neither home nor temporary folder, a locale that is no UTF-8, names that are none, few open files, no stdin."""
    trace = Path(os.fsdecode(os.fsencode(tmp_path) + b"/tr\xff\xe4ce\x1b[31m"))
    shutil.copytree(fixtures / "serial1", trace)
    nowhere = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR"), "/proc/none")
    locale = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    room = tmp_path / "room"
    room.mkdir()
    done = subprocess.run(
        ["sh", "-c", 'ulimit -n 64 && exec "$@" <&-', "sh", command_path, *given(command, fixtures, room / "x", trace)],
        capture_output=True,
        env={**environment, **nowhere, **locale},
        cwd=room,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stderr.splitlines() if not line.startswith(b"iostrata: warning")]
    assert b"\x1b" not in done.stdout
    done.stdout.decode("ascii")
    assert list(room.iterdir()) or not ("{out}" in command or command.startswith("report"))


_IN_A_NAMESPACE = """
import json, os, sys
from pathlib import Path
from iostrata.cli import main
room, commands = Path(sys.argv[1]), json.loads(sys.argv[2])
for command in commands:
    status = main(command)
    sys.stderr.flush()
    print(json.dumps([status, sorted(str(path) for path in room.rglob("*") if path.is_file())]), flush=True)
    print("--", file=sys.stderr, flush=True)
"""


def in_a_namespace(mounts: str, room: Path, commands: list[list[str]]) -> list[tuple[int, list[str], str]]:
    """Run commands with mounts of their own; return exit code, files left in `room` and stderr of each."""
    if subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    room.mkdir(exist_ok=True)
    code = [sys.executable, "-c", _IN_A_NAMESPACE, str(room), json.dumps(commands)]
    script = f'{mounts} && exec "$@"'
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, str(room), *code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    said = done.stderr.split("--\n")
    assert len(found) == len(commands) == len(said) - 1
    return [(status, left, text) for (status, left), text in zip(found, said, strict=False)]


def test_every_command_and_every_output_is_ended_and_run_in_each_surrounding() -> None:
    """By the lists of `benchmarks/damage/interrupts.py` and of this file."""
    from importlib import import_module

    from iostrata.cli.group import COMMANDS
    from iostrata.cli.options import OutputPath

    interrupts = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "damage" / "interrupts.py"))
    writing = [*(part.split() for part in WRITING), *interrupts["COMMANDS"]]
    for listed in ([part.split() for part in PRINTING], interrupts["COMMANDS"]):
        # The first is ended beside a Score-P; the others read no trace.
        assert {one[0] for one in listed} == set(COMMANDS.names) - {"record", "mcp", "schema"}
    for name in COMMANDS.names:
        command = import_module(f"iostrata.cli.commands.{name}").command
        for option in (one for one in command.params if isinstance(one.type, OutputPath)):
            for listed in (writing[: len(WRITING)], writing[len(WRITING) :]):
                of_command = [one for one in listed if one[0] == name]
                given = [one for one in of_command if option.param_type_name == "argument" or {*option.opts} & {*one}]
                assert given, f"{name} {option.name}"


def test_nothing_is_left_on_a_full_disk(fixtures: Path, tmp_path: Path) -> None:
    """A true one, of a page."""
    room = tmp_path / "room"
    commands = [
        *(f"convert {{trace}} {{out}}{suffix}" for suffix in (".h5", ".parquet", ".otf2")),
        "report {trace} -o {out}.html",
        "diff {trace} {trace} -o {out}.html",
        "schedule {other} -o {out}.json --plot {out}.svg",
        "signature {trace} {other} -o {out}.html --plot {out}.svg",
        "collect {trace} -o {out} --workers 1",
    ]
    found = in_a_namespace(
        'mount -t tmpfs -o size=4k none "$0"', room, [given(command, fixtures, room / "x") for command in commands]
    )
    for command, (status, left, said) in zip(commands, found, strict=True):
        assert (status, left) == (1, []), command
        (line,) = [line for line in said.splitlines() if not line.startswith("iostrata: warning: ")]
        assert line.startswith("iostrata: error: cannot write "), said
        assert "no space left on device; free some space" in line.lower(), said


def test_a_system_that_can_only_be_read(fixtures: Path, tmp_path: Path) -> None:
    """As in the image of a container: no place for what is compiled or temporary, no locks between processes."""
    room = tmp_path / "room"
    commands = [
        ["info", str(fixtures / "serial1")],
        given("collect {trace} -o {out}", fixtures, tmp_path / "x"),
        given("collect {trace} -o {out}", fixtures, room / "x"),
        given("periods {trace} --plot {out}.svg", fixtures, tmp_path / "y"),
        given("periods {trace} --plot {out}.svg", fixtures, room / "y"),
        given("schedule {other} --plot {out}.png", fixtures, room / "z"),
        given("signature {trace} {other} --plot {out}.pdf", fixtures, room / "w"),
    ]
    mounts = (
        'mount -t tmpfs none "$0" && mount -o remount,bind,ro / && mount -t tmpfs -o ro none /dev/shm && cd / && '
        "unset MPLCONFIGDIR XDG_CONFIG_HOME XDG_CACHE_HOME && export HOME=/ TMPDIR=/tmp && true"
    )
    read, refused, written, nowhere, *plotted = in_a_namespace(mounts, room, commands)
    assert (read[0], read[2], refused[0]) == (0, "", 1)
    assert refused[2].endswith("read-only file system; choose a folder that you may write to\n")
    assert refused[2].count("\n") == 1
    assert written[0] == 0, written[2]
    assert {Path(path).name for path in written[1]} >= {"job.parquet", "finding.parquet"}
    for (status, left, said), name in zip(plotted, ("y.svg", "z.png", "w.pdf"), strict=True):
        assert (status, said) == (0, ""), said
        # What matplotlib keeps went beside the first picture, and is gone.
        assert str(room / name) in left
        assert not [path for path in left if "/." in path.removeprefix(str(room)) or "font" in path]
    assert (nowhere[0], nowhere[2]) == (
        1,
        f"iostrata: error: cannot write '{tmp_path}': read-only file system; choose a folder that you may write to\n",
    )


@pytest.mark.parametrize(
    ("command", "first"),
    [("schedule {other} -o {out}.json", ".json"), ("signature {trace} {other} -o {out}.html", ".html")],
)
def test_a_command_with_two_outputs_leaves_both_or_none(
    run: Any, fixtures: Path, tmp_path: Path, command: str, first: str
) -> None:
    out, picture = tmp_path / f"x{first}", tmp_path / "x.svg"
    whole = [*given(command, fixtures, tmp_path / "x"), "--plot", picture]
    out.write_text("before")
    picture.mkdir()
    done = run(*whole)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"iostrata: error: cannot write '{picture}': it is a folder")
    assert out.read_text() == "before"
    assert sorted(tmp_path.iterdir()) == sorted([out, picture])
    picture.rmdir()
    assert run(*whole).returncode == 0
    assert sorted(tmp_path.iterdir()) == sorted([out, picture])
    assert out.stat().st_size > 100
    assert picture.read_text().rstrip().endswith("</svg>")
    picture.unlink()
    picture.symlink_to(out.name)
    written = out.read_bytes()
    done = run(*whole)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"iostrata: error: cannot write '{picture}': it is the other output; choose another name"
    )
    assert out.read_bytes() == written


KINDS = ("folder", "device", "pipe", "loop", "anchor", "events")


@pytest.mark.parametrize(("command", "kind"), list(zip(WRITING, itertools.cycle(KINDS), strict=False)))
def test_what_stands_in_the_place_of_any_output_stays(
    run: Any, fixtures: Path, tmp_path: Path, command: str, kind: str
) -> None:
    trace = Path(shutil.copytree(fixtures / "serial1", tmp_path / "trace"))
    room = tmp_path / "room"
    room.mkdir()
    out = Path(next(part for part in given(command, fixtures, room / "x") if part.startswith(str(room))))
    (events,) = (trace / "traces").glob("*.evt")
    if kind == "folder":
        out.mkdir()
    elif kind == "pipe":
        os.mkfifo(out)
    else:
        out.symlink_to(
            {"device": "/dev/full", "loop": out.name, "anchor": trace / "traces.otf2", "events": events}[kind]
        )
    before = {path: path.read_bytes() for path in (trace / "traces.otf2", events)}
    done = run(*given(command, fixtures, room / "x", trace))
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if not line.startswith("iostrata: warning: ")]
    assert len(lines) == 1
    assert lines[0].startswith(f"iostrata: error: cannot write '{out}': ")
    assert [path.name for path in room.iterdir()] == [out.name]
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("command", PRINTING)
def test_stdout_is_full_or_its_reader_goes_away(
    monkeypatch: pytest.MonkeyPatch, capfd: Any, fixtures: Path, tmp_path: Path, command: str
) -> None:
    from iostrata.cli import main

    arguments = given(command, fixtures, tmp_path / "x")
    reading, writing = os.pipe()
    os.close(reading)
    for file, status in ((open("/dev/full", "w"), 1), (os.fdopen(writing, "w"), 0)):  # noqa: SIM115
        monkeypatch.setattr(sys, "stdout", file)
        try:
            assert main(arguments) == status
        finally:
            monkeypatch.undo()
            file.close()
        said = [line for line in capfd.readouterr().err.splitlines() if not line.startswith("iostrata: warning: ")]
        assert said == status * [
            "iostrata: error: cannot write the output: no space left on device; free some space or send it elsewhere"
        ]


READING = (*PRINTING[2:], "convert {trace} {out}.otf2", "layers {trace} --memory 500M", "convert {trace} {out}.parquet")


@pytest.mark.parametrize(("command", "how"), list(zip(READING, itertools.cycle(["cut", "replaced"]), strict=False)))
def test_a_trace_that_is_cut_or_replaced_while_it_is_read(
    run: Any, monkeypatch: pytest.MonkeyPatch, fixtures: Path, copy_of: Any, tmp_path: Path, command: str, how: str
) -> None:
    """After its definitions were read: results of what is there, with a warning, or one line; nothing half written."""
    from iostrata.otf2io import archive, source

    folder, room = copy_of("serial1"), tmp_path / "room"
    room.mkdir()

    def opened(*arguments: Any, **options: Any) -> Any:
        found = archive.open_archive(*arguments, **options)
        for path in (folder / "traces").glob("*.evt"):
            if how == "cut":
                os.truncate(path, path.stat().st_size // 2)
            else:
                path.unlink()
                shutil.copyfile(fixtures / "ckpt4" / "traces" / "0.evt", path)
        return found

    monkeypatch.setattr(source, "open_archive", opened)
    done = run(*given(command, fixtures, room / "x", folder))
    assert done.returncode in (0, 1)
    errors = [line for line in done.stderr.splitlines() if not line.startswith("iostrata: warning: ")]
    assert len(errors) == done.returncode, done.stderr
    assert all(line.startswith("iostrata: error: ") for line in errors)
    if done.returncode and "collect" not in command:
        assert list(room.iterdir()) == []
