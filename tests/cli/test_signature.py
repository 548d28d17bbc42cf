"""``iostrata signature``: from traces and from a server's log to document, page, netCDF-4 and picture."""

import re
from pathlib import Path

import numpy as np
import pytest
from iostrata.cli import main

FIXTURES = Path(__file__).parents[2] / "fixtures"
RUNS = [FIXTURES / name for name in ("ckpt4", "ckpt4_linktime", "ckpt4_tsc")]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Return a log of five runs beside other jobs, and the table of the runs."""
    random = np.random.default_rng(5)
    folder = tmp_path_factory.mktemp("log")
    values, jobs = [], ["name,start,end"]
    for run in range(5):
        jobs.append(f"run {run},{1e9 + 2 * len(values)},{1e9 + 2 * len(values) + 800}")
        own = random.gamma(2.0, 1e7, 400)
        for start in (50, 150, 250, 330):
            own[start : start + 20] += 2e9
        at = random.integers(380)
        own[at : at + 15] += 1.5e9
        values += [*own, *random.gamma(2.0, 1e7, 50)]
    lines = [f"{1e9 + 2 * place},{value:.0f}" for place, value in enumerate(values)]
    (folder / "log.csv").write_text("\n".join(["time,bytes_per_second", *lines]))
    (folder / "jobs.csv").write_text("\n".join([*jobs, "later,2000000000,2000000100"]))
    return folder / "log.csv", folder / "jobs.csv"


def test_the_document_of_traces_keeps_their_bytes(document):
    import iostrata

    found = document("signature", *RUNS, "--direction", "write")
    assert next(iter(found)) == "schema_version"
    assert found["layer"] == "MPI-IO"
    assert [one["name"] for one in found["samples"]] == [path.name for path in RUNS]
    written = iostrata.open_trace(RUNS[0]).layers["MPI-IO"].statistics("write").bytes
    assert sum(found["signature"]) * found["interval_s"] == pytest.approx(written, rel=0.02)
    assert sum(burst["volume"] for burst in found["bursts"]) == pytest.approx(found["volume"], rel=1e-6)
    assert found["duration_s"] == pytest.approx(len(found["signature"]) * found["interval_s"])


def test_a_folder_of_traces_and_a_collection_say_the_same(document, run, tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for path in RUNS:
        (folder / path.name).symlink_to(path)
    direct = document("signature", folder, "--interval", "0.05")
    assert run("collect", folder, "-o", tmp_path / "collection", "--workers", "1").returncode == 0
    collected = document("signature", tmp_path / "collection", "--interval", "0.05")
    assert len(collected["bursts"]) == len(direct["bursts"])
    assert collected["volume"] == pytest.approx(direct["volume"], rel=0.01)


def test_the_runs_of_a_log_have_four_bursts_in_common(document, log):
    found = document("signature", "--log", log[0], "--jobs", log[1])
    assert [burst["peak_s"] for burst in found["bursts"]] == pytest.approx([120, 320, 520, 680], abs=6)
    assert found["samples"][-1]["name"] == "later"
    assert not found["samples"][-1]["used"]
    assert found["parameters"]["recorded"] == "server"
    assert found["parameters"]["background"] > 0


def test_what_is_on_screen_fits_80_columns(run_on_terminal, log):
    shown = run_on_terminal(80, "signature", "--log", log[0], "--jobs", log[1])
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(map(len, plain.splitlines())) <= 80
    assert "4 bursts, common to" in " ".join(plain.split())


def test_the_page_loads_nothing_and_shows_every_burst(run, log, tmp_path):
    page = tmp_path / "page.html"
    done = run("signature", "--log", log[0], "--jobs", log[1], "-o", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "default-src 'none'" in text
    assert not re.search(r"(?:src|href)=\"|url\(|style=", text)
    assert text.count("burst 4: ") == 1


def test_the_netcdf_file_has_the_same_signature(document, run, log, tmp_path):
    xarray = pytest.importorskip("xarray")
    target = tmp_path / "signature.nc"
    assert run("signature", "--log", log[0], "--jobs", log[1], "-o", target).returncode == 0
    told = document("signature", "--log", log[0], "--jobs", log[1])
    with xarray.open_dataset(target) as data:
        assert data.signature.values == pytest.approx(np.array(told["signature"]))
        assert data.volume.values == pytest.approx([burst["volume"] for burst in told["bursts"]])
        used = {name for name, mark in zip(data.run.values, data.used.values, strict=True) if mark}
        assert used == {one["name"] for one in told["samples"] if one["used"]}


def test_a_picture_is_drawn(run, log, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "signature.svg"
    done = run("signature", "--log", log[0], "--jobs", log[1], "--plot", picture)
    assert done.returncode == 0, done.stderr
    assert picture.read_text().count("<path") > 20


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ([], 2, "name the traces"),
        (["--log", "x.csv"], 2, "belong together"),
        (["--log", "x.csv", "--jobs", "y.csv"], 1, "No such file"),
        ([FIXTURES / "ckpt4"], 1, "at least 2 runs"),
        ([*RUNS, "--layer", "HDF5"], 1, "moved no bytes"),
        ([*RUNS, "--gamma", "0.95"], 2, "larger than --kappa"),
        ([*RUNS, "--interval", "1", "--method", "iosi"], 1, "shorter interval"),
        (["--log", "log.csv", "--jobs", "jobs.csv", "--method", "loops"], 2, "takes traces"),
        ([*RUNS, "--interval", "1e-9"], 1, "take a longer one"),
    ],
)
def test_wrong_usage_and_bad_input_end_in_one_line(run, arguments, status, words):
    done = run("signature", *arguments)
    assert done.returncode == status
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_run_that_moved_nothing_is_left_out_and_told(run):
    import json

    done = run("signature", *RUNS, FIXTURES / "serial1", "--direction", "read", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "iostrata: warning: left out: serial1: no read bytes moved\n"
    assert [one["name"] for one in json.loads(done.stdout)["samples"]] == [path.name for path in RUNS]
    alone = run("signature", FIXTURES / "serial1", FIXTURES / "threads2", "--direction", "read")
    assert (alone.returncode, len(alone.stderr.splitlines())) == (1, 1)


def test_jobs_outside_of_the_log_are_named_where_too_few_are_left(tmp_path, capsys):
    (tmp_path / "log.csv").write_text("time,bytes_per_second\n" + "".join(f"{1000 + at},{at}\n" for at in range(200)))
    for inside, said in ((5000, "none of the jobs"), (1000, "only one of the jobs")):
        (tmp_path / "jobs.csv").write_text(f"name,start,end\na,{inside},{inside + 90}\nb,30,40\n")
        assert main(["signature", "--log", str(tmp_path / "log.csv"), "--jobs", str(tmp_path / "jobs.csv")]) == 1
        told = capsys.readouterr().err
        assert said in told
        assert "the log is from 1000 to" in told
