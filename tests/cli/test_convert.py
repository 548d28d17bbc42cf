"""`convert` writes what it says it writes, over what was there."""

import json

import h5py
import pytest
from iostrata.cli import main


@pytest.mark.parametrize("suffix", [".h5", ".Nc"])
def test_the_document_describes_the_file(document, fixtures, tmp_path, suffix):
    out = tmp_path / f"layers{suffix}"
    found = document("convert", fixtures / "ior384", out, "--fs", "5")
    assert next(iter(found)) == "schema_version"
    output = found["output"]
    assert output == {"path": str(out), "bytes": out.stat().st_size, "layers": ["MPI-IO"], "bins": 400, "fs_hz": 5.0}
    with h5py.File(out) as file:
        assert file["bandwidth"].shape == (1, 2, 400)
        moved = {entry["direction"]: entry["bytes"] for entry in document("layers", fixtures / "ior384")["layers"]}
        assert file["bandwidth"][0, 0].sum() / 5 == pytest.approx(moved["read"])
        assert file["bandwidth"][0, 1].sum() / 5 == pytest.approx(moved["write"])


def test_layers_and_traffic_are_handed_on(document, fixtures, tmp_path):
    out = tmp_path / "layers.h5"
    options = ("--layer", "POSIX", "--traffic", "own", "--method", "ftio", "--fs", "10")
    found = document("convert", fixtures / "ncckpt4", out, *options)
    assert found["output"]["layers"] == ["POSIX"]
    with h5py.File(out) as file:
        assert file["bandwidth"].shape[0] == 1
        assert file["bandwidth"][:].sum() == 0


def test_an_older_file_is_replaced_and_one_line_says_so(run, fixtures, tmp_path):
    out = tmp_path / "layers.h5"
    out.write_text("older")
    done = run("convert", fixtures / "ckpt4_linktime", out, "--fs", "10")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"wrote {out}: ")
    assert "MPI-IO, ISOC, POSIX, 83 bins at 10 Hz" in done.stdout
    assert h5py.is_hdf5(out)
    assert [path.name for path in tmp_path.iterdir()] == ["layers.h5"]


def test_a_trace_that_cannot_be_used_leaves_the_older_file(run, fixtures, tmp_path):
    out = tmp_path / "layers.h5"
    out.write_text("older")
    assert run("convert", fixtures / "none", out).returncode == 1
    assert run("convert", fixtures / "ckpt4_linktime", out, "--layer", "none").returncode == 1
    assert out.read_text() == "older"


def test_a_folder_that_is_not_there(run, fixtures, tmp_path):
    done = run("convert", fixtures / "ckpt4_linktime", tmp_path / "none" / "layers.h5", "--fs", "10")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("iostrata: error: cannot write")
    assert done.stderr.count("\n") == 1


def test_a_timeline_for_perfetto(document, run, fixtures, tmp_path):
    out = tmp_path / "run.perfetto.json"
    found = document("convert", fixtures / "ckpt4", out, "--layer", "MPI-IO")
    assert found["output"]["bytes"] == out.stat().st_size
    # Each of 4 ranks opens and closes as often as it writes; 18 files are deleted.
    assert (found["output"]["operations"], found["output"]["slices"]) == (80, 240 + 18)
    done = run("convert", fixtures / "ckpt4", out)
    assert done.stdout.startswith(f"wrote {out}: ")
    assert "operations" in done.stdout


def test_an_archive_with_markers(document, run, fixtures, tmp_path):
    out = tmp_path / "seen.otf2"
    found = document("convert", fixtures / "ckpt4", out)
    assert found["output"]["markers"] > 20
    assert document("layers", out)["layers"] == document("layers", fixtures / "ckpt4")["layers"]
    again = run("convert", fixtures / "ckpt4", out)
    assert again.returncode == 1
    assert "is there already" in again.stderr


def test_a_filter_goes_into_the_file_and_only_into_hdf5(run, fixtures, tmp_path):
    done = run("convert", fixtures / "ckpt4", tmp_path / "a.h5", "--filter", "low:20")
    assert (done.returncode, done.stderr) == (0, "")
    with h5py.File(tmp_path / "a.h5") as file:
        assert file.attrs["filter"] == "low:20"
    for name, options in (("b.parquet", ("low:20",)), ("b.h5", ("low",)), ("b.perfetto.json", ("low:20",))):
        done = run("convert", fixtures / "ckpt4", tmp_path / name, "--filter", *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]


def test_an_archive_written_anew(document, run, fixtures, tmp_path):
    out = tmp_path / "anew.otf2"
    found = document("convert", fixtures / "ckpt4", out, "--rewrite")
    assert found["output"]["events"] == found["trace"]["io_events"]
    assert "markers" not in found["output"]
    assert document("layers", out)["layers"] == document("layers", fixtures / "ckpt4")["layers"]
    again = run("convert", fixtures / "ckpt4", out, "--rewrite")
    assert again.returncode == 1
    assert "is there already" in again.stderr
    assert " I/O events" in run("convert", fixtures / "ckpt4", tmp_path / "b.otf2", "--rewrite").stdout
    assert document("convert", out, tmp_path / "marked.otf2")["output"]["markers"] > 20


@pytest.mark.parametrize(
    "options", [("--layer", "POSIX"), ("--window", "0:1"), ("--files", "all"), ("--traffic", "own")]
)
def test_an_archive_written_anew_holds_everything(run, fixtures, tmp_path, options):
    done = run("convert", fixtures / "ckpt4", tmp_path / "anew.otf2", "--rewrite", *options)
    assert done.returncode == 2
    assert "holds all I/O" in done.stderr
    assert not list(tmp_path.iterdir())


def test_options_of_one_format_are_refused_elsewhere(run, fixtures, tmp_path):
    assert run("convert", fixtures / "ckpt4", tmp_path / "a.parquet", "--rewrite").returncode == 2
    assert run("convert", fixtures / "ckpt4", tmp_path / "a.h5", "--direction", "read").returncode == 2
    done = run("convert", fixtures / "ckpt4", tmp_path / "a.ftio.jsonl", "--layer", "POSIX", "--layer", "MPI-IO")
    assert done.returncode == 2
    assert "file holds one layer: choose one of MPI-IO, POSIX" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_program_s_own_layer_for_ftio(run, fixtures, tmp_path):
    done = run("convert", fixtures / "ckpt4", tmp_path / "a.ftio.jsonl")
    assert ", MPI-IO, " in done.stdout
    assert done.stderr == (
        "iostrata: note: .ftio.jsonl holds one layer: MPI-IO moved most of the program's own bytes; "
        "--layer takes another (ISOC, POSIX)\n"
    )
    done = run("convert", fixtures / "ckpt4", tmp_path / "b.ftio.jsonl", "--layer", "MPI-IO")
    assert done.stderr == ""
    assert (tmp_path / "a.ftio.jsonl").read_text() == (tmp_path / "b.ftio.jsonl").read_text()


def test_a_layer_for_ftio(document, fixtures, tmp_path):
    out = tmp_path / "a.ftio.jsonl"
    found = document("convert", fixtures / "ckpt4", out, "--layer", "MPI-IO", "--direction", "write", "--fs", "10")
    assert found["output"]["fs_hz"] == 10
    assert found["output"]["layers"] == ["MPI-IO"]
    assert list(json.loads(out.read_text())) == ["write_sync"]


def test_all_files_of_an_archive_are_named(fixtures, tmp_path, capsys):
    out = tmp_path / "copy.otf2"
    assert main(["convert", str(fixtures / "ncckpt4"), str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["output"]
    assert sorted([*told["beside"], out.name]) == sorted(
        one.name + "/" * one.is_dir() for one in tmp_path.iterdir() if one.name.startswith("copy")
    )
    assert main(["convert", str(fixtures / "ncckpt4"), str(tmp_path / "anew.otf2"), "--rewrite"]) == 0
    assert "(with anew/, anew.def)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("out", "why"),
    [
        ("", "the name of the file is empty"),
        (".", "is a folder; give the name of a file in it"),
        ("file/x.h5", "file is a file, not a folder"),
        ("/proc/x.h5", "no file can be made in /proc"),
        ("none/x.h5", "create the folder first"),
    ],
)
def test_why_an_output_cannot_be_written_is_true(out, why, fixtures, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert main(["convert", str(fixtures / "ncckpt4"), out]) in (1, 2)
    assert why in capsys.readouterr().err
