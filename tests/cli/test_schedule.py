"""``iostrata schedule``: from tables, documents and traces to document, sets and picture."""

import json
import re
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return the table of FTIO's experiment."""
    path = tmp_path_factory.mktemp("jobs") / "jobs.csv"
    rows = ["fast,19.2,0.0625", *(f"slow {number},384,0.0625" for number in range(1, 16))]
    path.write_text("\n".join(["job,period_s,io_share", *rows]) + "\n")
    return path


def test_the_document_has_sets_and_what_each_policy_makes_of_them(document, table):
    found = document("schedule", table, "--random-start", "--runs", "2")
    assert next(iter(found)) == "schema_version"
    assert [one["policy"] for one in found["policies"]] == ["fair", "exclusive", "set-10", "clairvoyant"]
    by_name = {one["policy"]: one for one in found["policies"]}
    assert by_name["set-10"] == {**by_name["clairvoyant"], "policy": "set-10"}
    assert by_name["set-10"]["stretch"] < by_name["exclusive"]["stretch"] < by_name["fair"]["stretch"]
    assert by_name["set-10"]["utilization"] < found["utilization_alone"] == pytest.approx(0.9375)
    for one in found["policies"]:
        low, high = one["stretch_range"]
        assert 1 <= low <= one["stretch"] <= high
    first, second, *_ = found["jobs"]
    assert (first["job"], first["period_s"], first["set"], first["priority"]) == ("fast", 19.2, 1, pytest.approx(0.1))
    assert (second["set"], second["priority"]) == (3, pytest.approx(0.001))
    assert second["stretch"]["fair"] > second["stretch"]["set-10"] >= 1


def test_a_document_of_periods_and_its_trace_are_the_same_job(document, run, tmp_path):
    told = run("periods", FIXTURES / "ckpt4", "--json", "--direction", "total")
    (tmp_path / "ckpt4.json").write_text(told.stdout)
    of_document = document("schedule", tmp_path / "ckpt4.json", FIXTURES / "mixed4")
    of_trace = document("schedule", FIXTURES / "ckpt4", FIXTURES / "mixed4")
    assert of_document == of_trace
    first = of_trace["jobs"][0]
    assert first["job"] == "ckpt4"
    assert first["signal"] == "POSIX total"
    assert first["period_s"] == pytest.approx(0.4, rel=0.02)
    assert first["set"] == 0


def test_a_trace_without_a_period_has_no_set_and_is_scheduled_all_the_same(document):
    found = document("schedule", FIXTURES / "ckpt4", FIXTURES / "aperiodic4")
    job = found["jobs"][1]
    assert (job["period_s"], job["set"]) == (None, None)
    assert job["priority"] == found["jobs"][0]["priority"]
    last = found["sets"][-1]
    assert last == {"set": None, "priority": 1.0, "exclusive": False, "period_s": None, "jobs": ["aperiodic4"]}


def test_the_sets_for_a_real_system(run, table, tmp_path):
    target = tmp_path / "sets.json"
    done = run("schedule", table, "-o", target)
    assert done.returncode == 0, done.stderr
    sets = json.loads(target.read_text())
    assert sets["policy"] == "set-10"
    found = [(one["set"], one["priority"], len(one["jobs"])) for one in sets["sets"]]
    assert found == [(1, pytest.approx(0.1), 1), (3, pytest.approx(0.001), 15)]
    assert sets["sets"][0]["period_s"] == pytest.approx([10**0.5, 10**1.5])


def test_what_is_on_screen_fits_80_columns(run_on_terminal, table):
    shown = run_on_terminal(80, "schedule", table, "--random-start", "--error", "0.5", "--runs", "2")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(map(len, plain.splitlines())) <= 80
    assert "ask for 100 % of the bandwidth" in " ".join(plain.split())


def test_a_picture_is_drawn(run, table, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "schedule.svg"
    done = run("schedule", table, "--window", "0:600", "--plot", picture)
    assert done.returncode == 0, done.stderr
    assert picture.read_text().count("<path") > 50
    again = tmp_path / "again.svg"
    assert run("schedule", table, "--window", "0:600", "--plot", again).returncode == 0
    assert again.read_bytes() == picture.read_bytes()


def test_one_job_asks_alone(run, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("job,period_s,io_share\na,20,0.1\n")
    assert run("schedule", path).stdout.startswith("1 job, which asks for 10 % of the bandwidth.")


def test_names_neither_act_on_a_terminal_nor_become_formulas(run, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "jobs.csv"
    path.write_text("job,period_s,io_share\n\x1b[31m$\\frac$[bold],20,0.1\n" + "b" * 300 + ",20,0.1\n")
    done = run("schedule", path, "--plot", tmp_path / "names.png")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert r"\x1b[31m$\frac$[bold]" in done.stdout


def test_a_recording_that_cannot_be_used_is_left_out_with_a_warning(run, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"schema_version": 1, "layers": []}')
    done = run("schedule", broken, FIXTURES / "ckpt4", "--json")
    assert done.returncode == 0
    assert "left out: broken: no phases of I/O" in done.stderr
    assert len(json.loads(done.stdout)["jobs"]) == 1


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ([], 2, "Missing argument"),
        (["nowhere.csv"], 1, "nowhere.csv"),
        (["TABLE", "--error", "2"], 2, "--error"),
        (["TABLE", "--window", "1e9:"], 1, "no iteration begins"),
        (["TABLE", "--iterations", "1000000"], 1, "fewer --iterations"),
        (["TABLE", "-o", "sets.txt"], 2, "known suffixes"),
        ([FIXTURES / "ckpt4", "--layer", "HDF5"], 1, "no phases of I/O in HDF5"),
    ],
)
def test_wrong_usage_and_bad_input_end_in_one_line(run, table, arguments, status, words):
    done = run("schedule", *(table if one == "TABLE" else one for one in arguments))
    assert done.returncode == status
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
