"""Programs that ``iostrata record`` prepares and runs: with a stand-in for Score-P, and with one that is installed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from iostrata.live.recording import lines_at, prepared, program_in
from iostrata.model.errors import RecordingError

from .conftest import LAST_GUARD_S, STANDIN, calls_of

COMMAND = str(Path(sys.executable).parent / "iostrata")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a binary, scripts for two interpreters, and nothing else on the path but the system's."""
    folder = tmp_path / "programs"
    folder.mkdir()
    shutil.copy("/bin/true", folder / "app")
    shutil.copy("/bin/true", folder / "core")
    for name, first in ("job.sh", "#!/bin/sh"), ("model.py", "#!/usr/bin/env -S python3 -u"):
        (folder / name).write_text(f"{first}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("./app -n 4", "./app"),
        ("mpirun -n 4 ./app a", "./app"),
        ("mpirun --map-by core -mca btl self --mca pml ob1 -x PATH app", "app"),
        ("mpirun --oversubscribe app", "app"),
        ("mpirun --unheard-of ./app", "./app"),
        ("srun -n4 -J core --exclusive --mpi=pmix --cpu-bind=cores app ./core", "app"),
        ("srun -- app", "app"),
        ("mpiexec.hydra -env CORES core -n 2 app", "app"),
        ("mpirun -n 2 env A=1 nice -n 5 app", "app"),
        ("mpirun -n 2 ./job.sh ./app", "./app"),
        ("mpirun -n 2 ./model.py", "./model.py"),
    ],
)
@pytest.mark.usefixtures("programs")
def test_the_program_in_a_command(command: str, program: str) -> None:
    words = command.split()
    assert words[program_in(words, 1 if words[0].startswith(("mpi", "srun")) else 0)] == program


@pytest.mark.parametrize("command", ["mpirun -n 2 ./job.sh", "sh -c app", "mpirun -n 4 ./nothing"])
@pytest.mark.usefixtures("programs")
def test_a_command_in_which_there_is_none(command: str) -> None:
    with pytest.raises(RecordingError, match=r"no program in|there is no \./nothing"):
        program_in(command.split(), start=command.startswith("mpirun"))


@pytest.fixture(scope="session")
def prefix(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the prefix of what takes itself for a Score-P."""
    config = tmp_path_factory.mktemp("prefix") / "bin" / "scorep-config"
    config.parent.mkdir(parents=True)
    config.write_text(f"""#!/bin/sh
for last; do :; done
case $last in
--version) echo stand-in ;;
--cppflags) echo -I{STANDIN} ;;
--adapter-init) echo "int standin;" ;;
--preload-libs) echo {built}/standin.so {built}/standin.so ;;
esac
""")
    config.chmod(0o755)
    return config.parent.parent


@pytest.fixture
def scorep(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what takes itself for a Score-P found; what is built for it is built once for all tests."""
    monkeypatch.setenv("SCOREP", str(prefix))
    monkeypatch.setenv("XDG_CACHE_HOME", str(prefix / "cache"))
    monkeypatch.delenv("LD_PRELOAD", raising=False)


@pytest.fixture
def own_cache(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache in which nothing is built yet, in place of that of all tests."""
    request.getfixturevalue("scorep")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def recorded(*words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run ``iostrata record``."""
    return subprocess.run(
        [COMMAND, "record", *words],
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=LAST_GUARD_S,
    )


def test_a_program_runs_with_what_is_built_for_it(built: Path, own_cache: Path, tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("no make")
    lines, folder = tmp_path / "lines", tmp_path / "archive"
    done = recorded("-o", str(folder), "--", str(built / "program"), STANDIN=str(lines))
    assert "Score-P did not begin" in done.stderr
    assert (done.returncode, done.stdout) == (1, "sync -1\n")
    assert len(calls_of(lines.read_text())) == 19
    (cache,) = (own_cache / "iostrata").iterdir()
    built_at = cache.stat().st_mtime_ns
    done = recorded("-o", str(folder), "--json", "--", str(built / "program"), STANDIN=str(lines))
    assert "sync -1\n" in done.stderr
    assert done.stdout == ""
    assert len(calls_of(lines.read_text())) == 38
    assert cache.stat().st_mtime_ns == built_at
    # Only the first program is recorded, not what it then becomes.
    recorded("-o", str(folder), "--", str(built / "program"), "exec", STANDIN=str(lines))
    assert len(calls_of(lines.read_text())) == 39


@pytest.mark.usefixtures("scorep")
def test_a_script_that_stands_for_a_python_is_that_python(programs: Path, tmp_path: Path) -> None:
    """As tools that choose among several of them put it on the path."""
    if shutil.which("make") is None:
        pytest.skip("no make")
    (programs / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (programs / "python3").chmod(0o755)
    words = prepared(["python3", "model.py", "y"], tmp_path / "archive")
    assert words[-3:] == [sys.executable, "model.py", "y"]


@pytest.mark.usefixtures("scorep")
def test_a_python_that_does_not_start_is_an_error_before_anything_runs(programs: Path, tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("no make")
    (programs / "python3").write_text("#!/bin/sh\necho no such version >&2; exit 1\n")
    (programs / "python3").chmod(0o755)
    with pytest.raises(RecordingError, match=r"does not start a Python \(no such version\): give the path"):
        prepared(["python3", "model.py", "y"], tmp_path / "archive")


@pytest.mark.usefixtures("scorep")
def test_each_of_several_programs_is_recorded(
    built: Path, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of itself a script's interpreter is; a program that was built with Score-P only gets what it lacks."""
    if shutil.which("make") is None:
        pytest.skip("no make")
    (programs / "app").write_bytes(b"\x7fELF libscorep_measurement.so.11 libmpi.so.40")
    shutil.copy("/bin/true", programs / "mpirun")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("SCOREP_TOTAL_MEMORY", "1G")
    words = prepared(["mpirun", "-n", "1", "./app", "x", ":", "-n", "2", "./model.py", "y"], tmp_path / "archive")
    colon = words.index(":")
    for part, end in ((words[:colon], ["./app", "x"]), (words[colon + 1 :], ["-u", "./model.py", "y"])):
        settings = dict(word.split("=", 1) for word in part if "=" in word)
        assert part[-len(end) :] == end
        assert settings["SCOREP_EXPERIMENT_DIRECTORY"] == str(tmp_path / "archive")
        assert (settings["SCOREP_TOTAL_MEMORY"], settings["SCOREP_ENABLE_TRACING"]) == ("1G", "true")
        assert settings["IOSTRATA_PRELOAD_BEFORE"] == ""
        assert "libiostrata_scorep_layers.so" in settings["LD_PRELOAD"]
        assert ("libiostrata_scorep_start_mpi.so" in settings["LD_PRELOAD"]) == (end[0] != "./app")
    assert "python3" in words[-4]
    assert str(built) in " ".join(words)


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize(
    ("setting", "value", "complaint"),
    [
        ("SCOREP", "/nowhere", "no scorep-config in /nowhere/bin, which SCOREP names"),
        ("IOSTRATA_LAYERS", "/nowhere", "no libiostrata_scorep_layers.so in /nowhere"),
        ("PATH", "/nowhere", "no make and cc"),
    ],
)
def test_what_is_missing_is_named(setting: str, value: str, complaint: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv(setting, value)
    with pytest.raises(RecordingError, match=complaint):
        prepared(["/bin/true"], tmp_path / "archive")


@pytest.mark.usefixtures("scorep")
def test_programs_that_nothing_can_be_put_before(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = programs / "archive"
    static = bytearray((programs / "app").read_bytes())
    entries = int.from_bytes(static[56:58], "little")
    for at in range(64, 64 + 56 * entries, 56):
        if static[at] == 3:  # PT_INTERP
            static[at] = 4
    (programs / "core").write_bytes(static)
    with pytest.raises(RecordingError, match="linked statically"):
        prepared(["./core"], folder)
    (programs / "app").chmod(0o4755)
    with pytest.raises(RecordingError, match="rights of its owner"):
        prepared(["./app"], folder)
    with pytest.raises(RecordingError, match="no nosuchrun on the PATH"):
        prepared(["nosuchrun", "-n", "2", "./app"], folder)
    monkeypatch.setenv("SCOREP_ENABLE_TRACING", "false")
    with pytest.raises(RecordingError, match="SCOREP_ENABLE_TRACING is off"):
        prepared(["./app"], folder)


@pytest.mark.usefixtures("scorep")
def test_an_archive_is_a_new_folder(tmp_path: Path) -> None:
    done = recorded("-o", str(tmp_path), "--", "/bin/true")
    assert done.returncode == 1
    assert "is there already" in done.stderr
    done = recorded("-o", str(tmp_path / "not" / "there"), "--", "/bin/true")
    assert "cannot write into" in done.stderr


@pytest.mark.usefixtures("scorep")
def test_signals_are_passed_on(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("no make")
    started = tmp_path / "started"
    wait = "import pathlib, time, sys; pathlib.Path(sys.argv[1]).touch(); time.sleep(100)"
    words = [COMMAND, "record", "-o", str(tmp_path / "archive"), "--", sys.executable, "-c", wait, str(started)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + LAST_GUARD_S
        while not started.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=LAST_GUARD_S)
    assert f"ended with {128 + signal.SIGTERM}" in told
    assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.usefixtures("scorep")
def test_a_program_that_tells_what_moves_has_the_plugin(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside plugins that are asked for; what is built stands in one folder, which the environment names."""
    monkeypatch.setenv("IOSTRATA_LAYERS", str(programs))
    monkeypatch.setenv("SCOREP_SUBSTRATE_PLUGINS", "other")
    (programs / "libiostrata_scorep_layers.so").touch()
    (programs / "preload_none").touch()
    with pytest.raises(RecordingError, match=r"no libscorep_substrate_.*; make scorep-plugin builds it"):
        prepared(["./app"], tmp_path / "archive", lines_at(tmp_path / "archive"))
    (programs / "libscorep_substrate_iostrata.so").touch()
    words = prepared(["./app"], tmp_path / "archive", lines_at(tmp_path / "archive"))
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    assert settings["SCOREP_SUBSTRATE_PLUGINS"] == "other,iostrata"
    assert settings["IOSTRATA_LIVE"] == str(tmp_path / "archive.live")
    assert settings["LD_PRELOAD"].endswith(f":{programs}/libscorep_substrate_iostrata.so")
    assert "SCOREP_SUBSTRATE_PLUGINS" not in " ".join(prepared(["./app"], tmp_path / "archive"))
    # Where Score-P does not begin nothing is told, and no folder stays in the way of another try.
    done = recorded("--live", "-o", str(tmp_path / "archive"), "--", "./app")
    assert f"iostrata watch {tmp_path}/archive.live\n" in done.stderr
    assert "Score-P did not begin" in done.stderr
    assert not list(tmp_path.glob("archive*"))
    monkeypatch.setenv("IOSTRATA_LIVE", "unix:/run/io")
    assert lines_at(tmp_path / "archive") == "unix:/run/io"


@pytest.fixture(scope="session")
def installed() -> None:
    """Skip where no Score-P is installed."""
    prefix = os.environ.get("SCOREP")
    if shutil.which("scorep-config", path=f"{prefix}/bin" if prefix else None) is None:
        pytest.skip("no Score-P: put its scorep-config on the PATH, or its prefix into SCOREP")


WRITES = """
import h5py, numpy, os
with h5py.File("x.h5", "w") as f:
    d = f.create_dataset("d", (20, 1000), "f8")
    for row in range(20):
        d[row] = numpy.ones(1000)
numpy.ones(3000).tofile("raw.bin")
if not (child := os.fork()):
    os._exit(0)
os.waitpid(child, 0)
print("written")
"""


@pytest.mark.usefixtures("installed")
def test_a_program_under_score_p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if shutil.which("otf2-print") is None:
        pytest.skip("no otf2-print")
    words = ["-o", "archive", "--live", "--", sys.executable, "-c", WRITES]
    done = recorded(*words, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert "the program forks: what its children read and write is not recorded" in done.stderr
    # What another terminal is told to look at.
    assert f"iostrata watch {tmp_path}/archive.live\n" in done.stderr
    watch = [COMMAND, "watch", "archive.live", "--once", "--json"]
    watched = subprocess.run(watch, capture_output=True, text=True, check=True).stdout
    moved = {(row["layer"], row["direction"]): row["bytes"] for row in map(json.loads, watched.splitlines())}
    assert moved["POSIX", "write"] >= 20 * 8000
    # Numpy writes by a stream of a duplicated descriptor.
    assert moved["ISOC", "write"] == 3000 * 8
    assert done.stdout.startswith("written\n")
    assert "POSIX" in done.stdout
    events = subprocess.run(["otf2-print", "archive/traces.otf2"], capture_output=True, text=True, check=True).stdout
    lines = [line for line in events.splitlines() if "iostrata:bytes" in line]
    assert sum(int(line.rpartition("Value: ")[2]) for line in lines) == 20 * 8000
