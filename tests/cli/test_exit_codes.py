"""What ends a command: success, a trace that cannot be used, wrong usage, an interrupt, a reader that goes away."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from iostrata.cli import main

READERS = ["info", "layers", "handles", "periods"]


def one_error(text: str) -> str:
    """Return the only line of stderr, which is an error."""
    assert text.startswith("iostrata: error: ")
    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert text.isprintable() or text[:-1].isprintable()
    return text


@pytest.mark.parametrize("command", READERS)
def test_a_sound_trace_ends_in_success_without_a_word_on_stderr(run_process, fixtures, command):
    done = run_process(command, fixtures / "ckpt4_linktime")
    assert done.returncode == 0
    assert done.stdout
    assert done.stderr == ""


def test_a_folder_an_anchor_and_a_relative_path_are_the_same_trace(document, fixtures):
    folder = document("layers", fixtures / "ckpt4_linktime")
    anchor = document("layers", fixtures / "ckpt4_linktime" / "traces.otf2")
    relative = document("layers", os.path.relpath(fixtures / "ckpt4_linktime"))
    assert folder == anchor
    assert folder["layers"] == relative["layers"]


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["terminal", "json"])
def test_a_missing_trace(run, tmp_path, command, as_json):
    done = run(command, tmp_path / "none", *as_json)
    assert (done.returncode, done.stdout) == (1, "")
    assert "none" in one_error(done.stderr)


def test_a_text_file(run_process, tmp_path):
    text = tmp_path / "notes.otf2"
    text.write_text("not a trace, but long enough to hold the head of an anchor file")
    done = run_process("layers", text)
    assert (done.returncode, done.stdout) == (1, "")
    assert "not an OTF2 anchor" in one_error(done.stderr)


def test_a_folder_without_an_anchor(run, tmp_path):
    done = run("layers", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no anchor" in one_error(done.stderr)


def test_a_folder_of_other_recordings(run, tmp_path):
    (tmp_path / "a.csv").write_text("layer,rank,mode,start,end,bytes\nPOSIX,0,read,1,2,3\n")
    (tmp_path / "README").write_text("what the tables are of")
    done = run("layers", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "give one of the recordings in it, such as a.csv (Table), or" in one_error(done.stderr)


def test_a_folder_with_two_anchors(run, copy_of):
    folder = copy_of("ckpt4_linktime")
    (folder / "second.otf2").write_bytes((folder / "traces.otf2").read_bytes())
    done = run("layers", folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "second.otf2, traces.otf2" in one_error(done.stderr)


def test_an_empty_anchor(run, copy_of):
    folder = copy_of("ckpt4_linktime")
    (folder / "traces.otf2").write_bytes(b"")
    done = run("info", folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "empty" in one_error(done.stderr)


@pytest.mark.parametrize("kept", [0.0, 0.01, 0.5, 0.99])
@pytest.mark.parametrize("command", READERS)
def test_truncated_global_definitions(run, copy_of, command, kept):
    folder = copy_of("ckpt4_linktime")
    definitions = folder / "traces.def"
    content = definitions.read_bytes()
    definitions.write_bytes(content[: int(kept * len(content))])
    done = run(command, folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "traces.def" in one_error(done.stderr)


def test_a_path_below_a_file(run, fixtures):
    done = run("info", fixtures / "ckpt4_linktime" / "traces.otf2" / "below")
    assert (done.returncode, done.stdout) == (1, "")
    one_error(done.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ("layers", "--layer", "PnetCDF"),
        ("periods", "--layer", "mpi-oi"),
        ("handles", "--layer", "netCDF"),
        ("layers", "--window", "100:200"),
        ("handles", "--window", "100:"),
        ("periods", "--window", ":-1"),
        ("layers", "--files", "/no/such/*.file"),
        ("periods", "--fs", "1e15", "--method", "ftio"),
    ],
)
def test_a_selection_that_this_trace_does_not_have(run, fixtures, arguments):
    command, *options = arguments
    done = run(command, fixtures / "ckpt4_linktime", *options)
    assert (done.returncode, done.stdout) == (1, "")
    one_error(done.stderr)


def test_an_unknown_layer_is_told_the_known_ones(run, fixtures):
    done = run("layers", fixtures / "ckpt4_linktime", "--layer", "netCDF")
    assert "MPI-IO, ISOC, POSIX" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("unknown",),
        ("layers",),
        ("layers", "a", "b"),
        ("layers", "a", "--unknown"),
        ("info", "a", "--layer", "POSIX"),
        ("layers", "a", "--direction", "up"),
        ("layers", "a", "--engine", "steam"),
        ("layers", "a", "--workers", "0"),
        ("layers", "a", "--workers", "many"),
        ("periods", "a", "--traffic", "some"),
        ("layers", "a", "--traffic", "some"),
        ("periods", "a", "--method", "guess"),
        *(("periods", "a", "--fs", fs) for fs in ("", "0", "-1", "nan", "inf", "1 Hz")),
        *(("layers", "a", "--window", window) for window in ("", "5", "2:1", "1:1", "a:b", "0:inf", "nan:", "1:2:3")),
        ("convert", "a"),
        ("convert", "a", "b.csv"),
        ("convert", "a", "b"),
    ],
)
def test_wrong_usage(capsys, arguments):
    assert main(arguments) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert "--help'" in one_error(error)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("layer", "a"), "did you mean 'layers'?"),
        (("Compare", "a"), "did you mean 'compare'?"),
        (("zzz",), "commands are overview, info, layers"),
        (("a\x1b[31m" * 200,), "commands are overview, info, layers"),
        (("x" * 5000,), "commands are overview, info, layers"),
    ],
)
def test_what_is_no_command_is_told_what_is_meant(capsys, arguments, hint):
    assert main(arguments) == 2
    error = one_error(capsys.readouterr().err)
    assert hint in error
    assert "\x1b" not in error
    assert len(error) < 400


def test_what_is_no_trace_is_one_error_without_a_command_too(capsys, tmp_path):
    assert main([str(tmp_path)]) == 1
    assert str(tmp_path) in one_error(capsys.readouterr().err)


def test_an_unknown_suffix_is_told_the_known_ones(capsys):
    assert main(["convert", "a", "b.xlsx"]) == 2
    assert ".h5, .nc" in capsys.readouterr().err


def test_no_command_shows_the_help_on_stderr(run_process):
    done = run_process()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: iostrata")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("failure", "status", "words"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 1, "out of memory"),
        (PermissionError(errno.EACCES, "Permission denied", "/secret"), 1, "/secret: Permission denied"),
        (OSError("bad disk"), 1, "bad disk"),
    ],
)
def test_what_the_system_can_do_to_a_run(monkeypatch, capsys, fixtures, failure, status, words):
    def fail(*_):
        raise failure

    monkeypatch.setattr("iostrata.otf2io.source.open_archive", fail)
    assert main(["info", str(fixtures / "ckpt4")]) == status
    out, error = capsys.readouterr()
    assert out == ""
    assert words in one_error(error)


@pytest.mark.parametrize("arguments", [("handles", "ior384", "--json"), ("periods", "ckpt4"), ("--help",)])
def test_a_reader_that_goes_away_is_no_failure(command_path, environment, fixtures, arguments):
    command = [command_path, *(str(fixtures / text) if (fixtures / text).is_dir() else text for text in arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert error == b""


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["terminal", "json"])
def test_a_full_disk_under_the_output(command_path, environment, fixtures, as_json):
    with Path("/dev/full").open("w") as full:
        command = [command_path, "layers", str(fixtures / "ckpt4_linktime"), *as_json]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    assert done.returncode == 1
    message = "cannot write the output: no space left on device; free some space or send it elsewhere"
    assert one_error(done.stderr) == f"iostrata: error: {message}\n"


def test_a_process_without_stdout(command_path, environment, fixtures):
    command = f"exec {command_path} layers {fixtures / 'ckpt4_linktime'} >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_module_runs_like_the_command(environment, fixtures):
    command = [sys.executable, "-m", "iostrata.cli", "layers", str(fixtures / "nothing")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1


def ended(code, *arguments, environment):
    """Run code and then the command in a process of its own."""
    code = f"import os, sys\n{code}\nfrom iostrata.cli import main\nsys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)


def test_an_interrupt_before_anything_is_loaded(environment):
    code = """
class Interrupting:
    def find_spec(self, name, *_):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())"""
    done = ended(code, "info", environment=environment)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "iostrata: error: interrupted\n")


def test_what_an_interrupt_leaves_half_made_ends_in_silence(environment):
    """As do the objects of a compiler, of which the interrupt took a part away."""
    code = """
import sys
class Half:
    def __del__(self):
        raise AttributeError("half of me")
class Interrupting:
    def find_spec(self, name, *_):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from iostrata.cli import main
status = main()
del sys.meta_path[0], Interrupting
half = Half()
del half
sys.exit(status)"""
    command = [sys.executable, "-c", code, "info"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (130, "iostrata: error: interrupted\n")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU"])
def test_what_ends_a_run_leaves_nothing_of_its_output(environment, fixtures, tmp_path, name):
    code = f"""
import signal
from iostrata.export.hdf5.variables import HDF5Storage
signal.signal(signal.{name}, signal.default_int_handler if "{name}" == "SIGINT" else signal.SIG_DFL)
seek, calls = HDF5Storage.seek, []
def killed(*arguments):
    calls.append(1)
    if len(calls) == 50:
        os.kill(os.getpid(), signal.{name})
    return seek(*arguments)
HDF5Storage.seek = killed"""
    done = ended(code, "convert", fixtures / "serial1", tmp_path / "x.h5", environment=environment)
    assert (done.returncode, done.stderr) == (130, "iostrata: error: interrupted\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_document_that_the_disk_has_no_room_for(command_path, environment, fixtures, tmp_path, unbuffered):
    command = ["sh", "-c", 'ulimit -f 20 && exec "$0" handles --json "$1" > out', command_path, fixtures / "ior384"]
    environment = {**environment, "PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "cannot write the output: file too large" in one_error(done.stderr)
