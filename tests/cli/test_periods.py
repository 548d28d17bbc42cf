"""``iostrata periods --components`` and ``--plot`` on real archives."""

import os
from pathlib import Path

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.analysis.fitting import fit_signal


def test_cosines_are_those_of_each_layer(document, fixtures):
    entries = document("periods", fixtures / "ncckpt4", "--components", "4")["layers"]
    trace = open_trace(fixtures / "ncckpt4")
    assert {entry["layer"] for entry in entries} == {"netCDF", "HDF5", "MPI-IO", "ISOC", "POSIX"}
    for entry in entries:
        expected = fit_signal(trace.layers[entry["layer"]].bandwidth(entry["direction"]), 4)
        fit = entry["fit"]
        np.testing.assert_allclose(fit["fitted"]["frequency_hz"], expected.fit.components.frequency)
        np.testing.assert_allclose(fit["fitted"]["amplitude"], expected.fit.components.amplitude)
        assert fit["fitted"]["mean_square_error"] <= fit["lines"]["mean_square_error"] <= fit["variance"]
        assert fit["samples"] == len(expected.samples)
    # Nothing else changes.
    plainly = document("periods", fixtures / "ncckpt4")["layers"]
    assert plainly == [{key: value for key, value in entry.items() if key != "fit"} for entry in entries]


def test_the_terminal_says_error_beside_error(run, fixtures):
    done = run("periods", fixtures / "ckpt4", "--layer", "MPI-IO", "--direction", "write", "--components", "7")
    assert (done.returncode, done.stderr) == (0, "")
    assert "7 cosines around the mean of" in done.stdout
    assert "of the variance, the plain Fourier sum" in done.stdout
    assert "and 2 further cosines" in done.stdout


def test_cosines_of_parts_and_of_a_filtered_signal(document, fixtures):
    entries = document(
        "periods", fixtures / "ckpt4", "--by", "rank", "--direction", "write", "--components", "2", "--filter", "high:1"
    )["layers"]
    assert len(entries) > 1
    # A high-pass leaves no mean.
    for entry in entries:
        assert abs(entry["fit"]["fitted"]["mean"]) <= 0.05 * entry["fit"]["variance"] ** 0.5


def test_a_period_that_the_filter_does_not_pass_is_none(run, document, fixtures):
    options = ("periods", fixtures / "ckpt4", "--layer", "MPI-IO", "--direction", "write", "--filter", "high:10")
    (entry,) = document(*options)["layers"]
    assert not entry["periodic"]
    assert entry["period_s"] is None
    assert entry["periods"] == entry["regimes"] == []
    assert "which the filter high:10 Hz does not pass" in entry["reason"]
    assert "no period: " in run(*options).stdout


def test_bins_that_decide_nothing_are_not_told(run, fixtures):
    options = ("periods", fixtures / "ckpt4", "--layer", "MPI-IO", "--direction", "write")
    exact = run(*options).stdout
    assert "method auto, on the exact signal" in exact
    assert "abstraction error" not in exact
    assert "abstraction error" in run(*options, "--method", "ftio").stdout


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_of_each_kind(document, fixtures, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"out.{suffix}"
    options = ("--direction", "write", "--layer", "MPI-IO", "--components", "3", "--plot", picture)
    found = document("periods", fixtures / "ckpt4", *options)
    assert found["plot"] == {"path": str(picture), "bytes": picture.stat().st_size, "signals": 1}
    assert [path.name for path in tmp_path.iterdir()] == [picture.name]


def test_the_terminal_says_where_the_picture_is(run, fixtures, tmp_path):
    pytest.importorskip("matplotlib")
    done = run("periods", fixtures / "ckpt4", "--method", "hybrid", "--plot", tmp_path / "a.png")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"wrote {tmp_path / 'a.png'}" in done.stdout.replace("\n", "")


@pytest.mark.parametrize(
    "options",
    [("--components", "0"), ("--components", "101"), ("--components", "few"), ("--plot", "a.jpg"), ("--plot", "png")],
)
def test_wrong_usage_writes_nothing(run, fixtures, tmp_path, options):
    done = run("periods", fixtures / "ckpt4", *(str(tmp_path / o) if o == "a.jpg" else o for o in options))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("none/a.png", (), "create the folder first"),
        ("a.png", ("--layer", "ISOC", "--direction", "read"), "nothing to draw"),
        ("a.png", ("--by", "file", "--parts", "100", "--files", "all"), "too many for one picture"),
    ],
)
def test_what_cannot_be_drawn_is_one_line_and_no_file(run, fixtures, tmp_path, name, options, words):
    pytest.importorskip("matplotlib")
    done = run("periods", fixtures / "ncckpt4", *options, "--plot", tmp_path / name)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_picture_that_is_there_stays_when_the_new_one_fails(run, copy_of, tmp_path):
    picture = tmp_path / "a.png"
    picture.write_bytes(b"before")
    folder = copy_of("ckpt4_linktime")
    (folder / "traces.def").write_bytes(b"broken")
    done = run("periods", folder, "--plot", picture)
    assert done.returncode == 1
    assert picture.read_bytes() == b"before"


def test_without_matplotlib_nothing_is_read(run_process, fixtures, tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ModuleNotFoundError('No module named matplotlib')")
    python_path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = run_process("periods", fixtures / "none", "--plot", tmp_path / "a.png", PYTHONPATH=python_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install 'iostrata[plot]'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path(tmp_path / "a.png").exists()


def test_a_picture_without_a_home_says_nothing_more(run_process, fixtures, tmp_path):
    pytest.importorskip("matplotlib")
    nowhere = {"HOME": "/dev/null", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "MPLCONFIGDIR": ""}
    done = run_process("periods", fixtures / "serial1", "--plot", tmp_path / "a.png", **nowhere)
    assert (done.returncode, done.stderr) == (0, "")
