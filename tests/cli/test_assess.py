"""``iostrata assess``: training, ranking, and pages, from tables, traces and collections."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")
FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return a table of 300 jobs, of which job 17 writes from one of eight nodes only, all the time."""
    random = np.random.default_rng(0)
    lines = ["job,node,filesystem,metric,time,value"]
    for job in range(300):
        nodes = 8 if job == 17 else random.integers(1, 9)
        for node in range(nodes):
            for metric, level in (("write_bytes", 1e6), ("md_read", 10.0)):
                values = level * random.gamma(0.5, 1.0, 6)
                if job == 17 and node == 0:
                    values[:] = 100 * level
                lines += [f"job {job},n{node},fs,{metric},{600 * place},{v:.6g}" for place, v in enumerate(values)]
    path = tmp_path_factory.mktemp("jobs") / "<jobs>.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def limits(run, table, tmp_path_factory):
    """Return limits trained with the table."""
    path = tmp_path_factory.mktemp("limits") / "limits.json"
    done = run("assess", "--train", table, "-o", path)
    assert done.returncode == 0, done.stderr
    return path


def test_the_job_with_a_problem_comes_first(document, table, limits):
    found = document("assess", table, "--limits", limits)
    assert next(iter(found)) == "schema_version"
    assert found["limits"] == json.loads(limits.read_text())["limits"]
    first = found["jobs"][0]
    assert (first["job"], first["rank"], first["problem_time"], first["nodes"]) == ("job 17", 1, 1, 8)
    assert first["balance"] == pytest.approx(1 / 8, abs=0.02)
    assert [one["rank"] for one in found["jobs"]] == list(range(1, 301))


def test_without_limits_the_jobs_are_their_own_training(document, table, limits):
    assert document("assess", table)["jobs"] == document("assess", table, "--limits", limits)["jobs"]


def test_options_of_the_limits_reach_them(document, table):
    found = document("assess", table, "--quantiles", "0.5,0.9", "--critical", "3", "--segment", "1200")
    assert (found["quantiles"], found["critical"], found["segment_s"]) == ([0.5, 0.9], 3.0, 1200.0)
    assert found["jobs"][0]["segments"] == 3


def test_short_jobs_can_be_left_out(document, table):
    found = document("assess", table, "--least-duration", "3601", "--order", "io-intensity")
    assert (found["jobs"], found["left_out"]) == ([], 300)


def test_what_is_on_screen_fits_80_columns(run_on_terminal, table, limits):
    plain = re.sub(r"\x1b\[[0-9;]*m", "", run_on_terminal(80, "assess", table, "--limits", limits))
    assert max(map(len, plain.splitlines())) <= 80
    assert "300 jobs" in plain


def test_runs_of_a_collection_have_a_line_each_with_their_cause(document, run, run_on_terminal, tmp_path):
    traces = [FIXTURES / name for name in ("ckpt4", "ncckpt4", "ckpt8_unnested")]
    assert run("collect", *traces, "-o", tmp_path / "runs", "--workers", "1").returncode == 0
    causes = [one["cause"][:12] for one in document("assess", tmp_path / "runs")["jobs"]]
    for width in (60, 100):
        plain = re.sub(r"\x1b\[[0-9;]*m", "", run_on_terminal(width, "assess", tmp_path / "runs"))
        lines = plain.splitlines()
        assert max(map(len, lines)) <= width
        table = lines[next(place for place, line in enumerate(lines) if line.lstrip().startswith("job")) :][1:4]
        assert [line.split()[:2] for line in table] == [["1", "ckpt8_unnested"], ["2", "ckpt4"], ["3", "ncckpt4"]]
        assert all(cause in line for cause, line in zip(causes, table, strict=True))


def test_the_page_loads_nothing_and_names_the_first(run, table, limits, tmp_path):
    page = tmp_path / "page.html"
    done = run("assess", table, "--limits", limits, "-o", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert not re.search(r"(?:src|href)=\"|url\(|style=", text)
    contents = json.loads(re.search(r'id="contents">(.*?)</script>', text)[1])
    assert contents["sections"][0]["blocks"][0]["rows"][0][0]["value"] == "job 17"


def test_the_page_calls_runs_by_short_names_with_their_cause_below(run, tmp_path):
    traces = [FIXTURES / name for name in ("ckpt4", "ncckpt4")]
    assert run("collect", *traces, "-o", tmp_path / "runs", "--workers", "1").returncode == 0
    assert run("assess", tmp_path / "runs", "-o", tmp_path / "page.html").returncode == 0
    contents = json.loads(re.search(r'id="contents">(.*?)</script>', (tmp_path / "page.html").read_text())[1])
    jobs = [row[0] for row in contents["sections"][0]["blocks"][0]["rows"]]
    assert {one["value"]: one["title"] for one in jobs} == {path.name: str(path / "traces.otf2") for path in traces}
    assert all(re.search("since|because", one["notes"][0][1]) for one in jobs)


def test_traces_and_their_collection_are_jobs(document, run, tmp_path):
    traces = [FIXTURES / name for name in ("ckpt4", "ncckpt4", "ckpt8_unnested")]
    direct = document("assess", *traces, "--segment", "0.4", "--quantiles", "0.5,0.9")
    done = run("collect", *traces, "-o", tmp_path / "runs", "--segment", "0.4", "--workers", "1")
    assert done.returncode == 0, done.stderr
    collected = document("assess", tmp_path / "runs", "--segment", "0.4", "--quantiles", "0.5,0.9")

    def scores(found):
        # A collection knows runs by their path.
        return sorted(
            (one["problem_time"], one["utilization"], one["balance"], one["nodes"], one["segments"])
            for one in found["jobs"]
        )

    assert scores(direct) == scores(collected)
    assert direct["limits"].keys() == collected["limits"].keys()
    for metric, both in direct["limits"].items():
        assert both == pytest.approx(collected["limits"][metric])


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["x.csv", "--train"], 2, "--train needs -o"),
        (["x.csv", "-o", "out.json"], 2, "is for --train"),
        (["x.csv", "--quantiles", "0.9,0.5"], 2, "does not ascend"),
        (["x.csv"], 1, "o such file"),
        (["x.csv", "--limits", "nowhere.json"], 1, "o such file"),
        (["nowhere.otf2"], 1, "nowhere.otf2"),
    ],
)
def test_wrong_usage_and_bad_input_end_in_one_line(run, arguments, status, words):
    done = run("assess", *arguments)
    assert done.returncode == status
    assert words in done.stderr.splitlines()[-1]
    assert done.stdout == ""


def test_a_trace_that_cannot_be_used_is_told_and_the_others_are_ranked(run, tmp_path):
    (tmp_path / "empty.otf2").write_bytes(b"")
    done = run("assess", FIXTURES / "ckpt4", tmp_path / "empty.otf2", "--segment", "0.4", "--json")
    assert done.returncode == 0
    assert [one["job"] for one in json.loads(done.stdout)["jobs"]] == ["ckpt4"]
    assert "warning" in done.stderr
    assert "empty.otf2" in done.stderr


def test_other_segments_than_the_limits_are_refused(run, table, limits):
    done = run("assess", table, "--limits", limits, "--segment", "60")
    assert (done.returncode, "leave --segment out" in done.stderr) == (2, True)


@pytest.mark.parametrize(("segment", "said"), [(600, True), (0.4, False)])
def test_jobs_shorter_than_the_segments_of_the_limits_are_told(run, tmp_path, segment, said):
    names = ("ckpt4", "ncckpt4", "ckpt8_unnested")
    done = run(
        "assess", "--train", *(FIXTURES / name for name in names), "--segment", segment, "-o", tmp_path / "l.json"
    )
    assert ("3 of 3 jobs are shorter than a segment" in done.stderr) is said
    done = run("assess", FIXTURES / "ckpt4", "--limits", tmp_path / "l.json")
    assert (f"1 of 1 job is shorter than a segment: limits of {segment:g} s" in done.stderr) is said


def test_limits_of_another_version_are_refused_in_one_line(run, table, limits, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**json.loads(limits.read_text()), "schema_version": 99}))
    done = run("assess", table, "--limits", other)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert "schema_version is 99" in done.stderr


def test_damage_is_told_once_and_of_which_trace(run):
    """Without limits the traces are read twice, to train and to assess."""
    damaged = FIXTURES / "broken_race_corruption"
    done = run("assess", damaged, FIXTURES / "ckpt4", "--segment", "0.4")
    (line,) = (line for line in done.stderr.splitlines() if "damaged" in line)
    assert line.startswith(f"iostrata: warning: {damaged}")


def test_those_asked_for_are_ranked_and_told_with_what_slurm_knew(tmp_path, run):
    accounting = tmp_path / "sacct.txt"
    rows = ["JobID|User|Partition|State|OverSubscribe", "4711|ada|big|COMPLETED|NO", "4711.batch||||"]
    accounting.write_text("\n".join([*rows, "4712|bob|small|FAILED|OK", "4714|ada|small|FAILED|"]))
    rows = ["job,node,filesystem,metric,time,value"]
    for job, high in (("4711", 1e9), ("4712", 5e8), ("4714", 4e8), ("9", 1e6)):
        rows += [
            f"{job},n{node},fs,write_bytes,{600 * step},{high / (1 + 9 * node)}" for node in (0, 1) for step in range(9)
        ]
    table = tmp_path / "metrics.csv"
    table.write_text("\n".join(rows))
    given = ["assess", str(table), "--quantiles", "0.2,0.6", "--accounting", str(accounting), "--user", "ada"]
    done = run(*given, "--json")
    jobs = {one["job"]: one for one in json.loads(done.stdout)["jobs"]}
    assert set(jobs) == {"4711", "4714"}
    assert jobs["4711"]["account"] == {"state": "COMPLETED", "partition": "big", "user": "ada", "exclusive": True}
    assert jobs["4711"]["metrics"] == ["write_bytes"]
    assert "1 job of 4 not in it" in done.stderr
    assert "2 jobs left out" in done.stderr
    assert "ada, big, COMPLETED, exclusive" in run(*given).stdout.replace("\n", " ")
