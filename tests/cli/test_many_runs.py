"""The commands ``collect``, ``diff`` and ``report`` of a collection, as a user calls them."""

import json
import re
import shutil
from pathlib import Path

import pytest
from iostrata.cli import main

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def runs(fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a collection of three runs and a trace that cannot be used."""
    folder = tmp_path_factory.mktemp("many")
    for name in ("ckpt4", "ckpt4_romio", "serial1"):
        (folder / "traces" / name).parent.mkdir(exist_ok=True)
        shutil.copytree(fixtures / name, folder / "traces" / name)
    hostile = folder / "traces" / "<b>bold\x1b[31m"
    hostile.mkdir()
    (hostile / "traces.otf2").write_bytes(b"none")
    assert main(["collect", str(folder / "traces"), "-o", str(folder / "runs"), "--workers", "1"]) == 0
    return folder / "runs"


def test_from_a_folder_of_traces_to_the_ranking_with_two_commands(runs, tmp_path, capsys):
    assert main(["report", str(runs), "-o", str(tmp_path / "runs.html")]) == 0
    assert "4 runs" in capsys.readouterr().out
    page = (tmp_path / "runs.html").read_text()
    assert "<b>bold" not in page  # as markup
    assert "\x1b" not in page
    assert "ckpt4_romio" in page


def test_reports_of_each_run_are_written_once_and_linked(runs, tmp_path):
    page = tmp_path / "runs.html"
    assert main(["report", str(runs), "-o", str(page), "--each"]) == 0
    reports = {file: file.stat().st_mtime_ns for file in (tmp_path / "runs_reports").iterdir()}
    assert len(reports) == 3
    assert all(f"runs_reports/{file.name}" in page.read_text() for file in reports)
    assert main(["report", str(runs), "-o", str(page), "--each"]) == 0
    assert {file: file.stat().st_mtime_ns for file in reports} == reports


def test_a_collection_of_another_version_or_without_a_table_is_refused(runs, tmp_path, capsys):
    import shutil

    import pyarrow.parquet

    for name in ("other", "lacking"):
        shutil.copytree(runs, tmp_path / name)
    job = tmp_path / "other" / "job.parquet"
    table = pyarrow.parquet.read_table(job)
    pyarrow.parquet.write_table(table.replace_schema_metadata({"schema_version": "99"}), job)
    (tmp_path / "lacking" / "signal.parquet").unlink()
    for name, words in (("other", "another version"), ("lacking", "signal.parquet is missing")):
        assert main(["report", str(tmp_path / name), "-o", str(tmp_path / "page.html")]) == 1
        assert words in capsys.readouterr().err


def ranked(document):
    """Return the rows of the table of runs, what each is called first."""
    sections = {section["id"]: section for section in document.to_dict()["sections"]}
    (table,) = [block for block in sections["ranking"]["blocks"] if block["block"] == "table"]
    return [row[0] for row in table["rows"]]


def test_the_ranking_keeps_the_order_of_the_scores(runs, tmp_path):
    from iostrata.export.runs.ranking_page import ranking_page, read_scores
    from iostrata.runs import Collection

    collection = Collection(runs)
    jobs = [job.job for job in collection.jobs if job.usable]
    for order in (jobs, jobs[::-1]):
        scores = tmp_path / "scores.json"
        told = [{"job": job, "problem_score": 1.0 + place} for place, job in enumerate(order)]
        scores.write_text(json.dumps({"schema_version": 1, "jobs": told}))
        document = ranking_page(collection, read_scores(scores), {})
        assert [run["title"] for run in ranked(document)] == order
        assert document.headline[0].endswith("with a Problem-Score of 1.")


def test_scores_lead_the_ranking(runs, tmp_path):
    from iostrata.export.runs.ranking_page import ranking_page, read_scores
    from iostrata.runs import Collection

    collection = Collection(runs)
    (job,) = (job.job for job in Collection(runs, ["serial1"]).jobs)
    scores = tmp_path / "scores.json"
    scores.write_text(json.dumps({"schema_version": 1, "jobs": [{"job": job, "rank": 1, "problem_score": 4.5}]}))
    names = [run["value"] for run in ranked(ranking_page(collection, read_scores(scores), {}))]
    without = [run["value"] for run in ranked(ranking_page(collection, {}, {}))]
    assert (names[0], without[0]) == ("serial1", "ckpt4")


def test_json_of_collect_and_what_failed(runs, fixtures, capsys, check_documents):
    assert main(["collect", str(runs.parent / "traces"), "-o", str(runs), "--workers", "1", "--json"]) == 0
    document = json.loads(text := capsys.readouterr().out)
    check_documents("collect", text)
    assert next(iter(document)) == "schema_version"
    assert (document["output"]["read"], document["output"]["unchanged"], document["output"]["runs"]) == (0, 3, 4)
    (failed,) = document["output"]["failed"]
    assert "\\x1b" in failed["job"]
    del fixtures


def test_some_bad_traces_are_counted_and_only_bad_ones_fail(fixtures, tmp_path, capsys):
    good, bad = fixtures / "serial1", [tmp_path / "one.darshan", tmp_path / "two.otf2"]
    for path in bad:
        path.touch()
    out = ["-o", str(tmp_path / "runs"), "--workers", "1"]
    for traces, status, said in (
        (bad[:1], 1, "iostrata: error: none of 1 trace can be used; the table job says why\n"),
        (bad, 1, "iostrata: error: none of 2 traces can be used; the table job says why\n"),
        ([good, *bad], 0, "iostrata: warning: 2 of 3 traces cannot be used; the table job says why\n"),
        # What was read before can be used.
        ([good, *bad], 0, "iostrata: warning: 2 of 3 traces cannot be used; the table job says why\n"),
        ([good], 0, ""),
    ):
        assert main(["collect", *map(str, traces), *out]) == status
        assert capsys.readouterr().err == said
    assert main(["collect", str(bad[0]), *out, "--json"]) == 1
    (failed,) = json.loads(capsys.readouterr().out)["output"]["failed"]
    assert "empty" in failed["reason"]
    # Each has its row.
    from iostrata.runs import Collection

    jobs = {Path(job.job).name: job.status for job in Collection(tmp_path / "runs").jobs}
    assert jobs == {"traces.otf2": "read", "one.darshan": "failed", "two.otf2": "failed"}


def test_diff_of_a_trace_a_folder_and_runs_of_a_collection(runs, fixtures, tmp_path, capsys, check_documents):
    page = tmp_path / "diff.html"
    arguments = ["diff", f"{runs}:ckpt4", str(fixtures / "ckpt4_romio"), "-o", str(page), "--json"]
    assert main([*arguments, "--fail-on", "changed"]) == 3
    document = json.loads(text := capsys.readouterr().out)
    check_documents("diff", text)
    assert list(document)[:3] == ["schema_version", "provenance", "verdict"]
    assert document["verdict"] != "same"
    first = document["changes"][0]
    assert first["matters"]
    assert first.keys() >= {"id", "layer", "direction", "before", "after", "ratio", "interval", "p_value", "text"}
    assert document["broken_rules"][0]["rule"] == "changed"
    assert page.stat().st_size > 10_000
    assert main(["diff", f"{runs}:ckpt4", str(fixtures / "ckpt4"), "--fail-on", "changed"]) == 0
    assert "No change that matters." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["diff", "{runs}:nothing", "{runs}"], 1, "matches 'nothing'"),
        (["diff", "{runs}:*bold*", "{runs}:ckpt4"], 1, "none of the runs can be used"),
        (["diff", "{missing}", "{runs}"], 1, "missing"),
        (["diff", "{runs}", "{runs}", "--fail-on", "nicer"], 2, "no rule 'nicer'"),
        (
            ["diff", "{runs}", "{runs}", "--fail-on", "POSX:bytes>1.05"],
            2,
            "'POSX' is recorded; did you mean POSIX? there are",
        ),
        (["diff", "{runs}", "{runs}", "--fail-on", "POSIX:flush:bytes>1"], 2, "only operations and time"),
        (["diff"], 2, "A"),
        (["diff", "{runs}:ckpt4*"], 1, "3 to 200 runs"),
        (["collect", "{runs}"], 2, "--output"),
        (["collect", "-o", "{missing}"], 2, "TRACES"),
        (["report", "{runs}", "-o", "{missing}/x/y.html"], 1, "create the folder"),
        (["report", "{runs}", "-o", "{missing}.html", "--scores", "{runs}/job.parquet"], 1, "not scores that"),
        (["report", "{trace}", "-o", "{missing}.html", "--each"], 2, "--each"),
        (["report", "{runs}/../traces", "-o", "{missing}.html"], 1, "traces -o runs' and 'iostrata report runs"),
        (["report", "{runs}/../traces:ckpt*", "-o", "{missing}.html"], 1, "traces -o runs' and 'iostrata report runs"),
        (["collect", "{runs}", "-o", "{missing}"], 1, "is a collection already"),
    ],
)
def test_what_cannot_be_done_is_a_line_and_leaves_nothing(arguments, status, said, runs, fixtures, tmp_path, capsys):
    known = {"runs": runs, "missing": tmp_path / "missing", "trace": fixtures / "serial1"}
    assert main([one.format(**known) for one in arguments]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["runs", "traces"])
def test_every_command_on_runs_takes_a_pattern(kind, runs, tmp_path, capsys):
    folder = runs if kind == "runs" else runs.parent / "traces"
    chosen = f"{folder}:ckpt4*"
    for arguments, names in (
        (["signature", chosen, "--direction", "write"], lambda told: [one["name"] for one in told["samples"]]),
        (["assess", chosen, "--segment", "5"], lambda told: [one["job"] for one in told["jobs"]]),
        (["diff", f"{folder}:ckpt4", f"{folder}:ckpt4_*"], lambda told: [*told["before"], *told["after"]]),
    ):
        assert main([*arguments, "--json"]) == 0
        told = sorted(names(json.loads(capsys.readouterr().out)))
        assert [Path(one).parent.name or one for one in told] == ["ckpt4", "ckpt4_romio"]
    if kind == "traces":
        assert main(["collect", chosen, "-o", str(tmp_path / "runs"), "--workers", "1", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["output"]["runs"] == 2
    for command in ("signature", "assess"):
        assert main([command, f"{folder}:nothing*"]) == 1
        assert "matches 'nothing*'" in capsys.readouterr().err
    if kind == "runs":
        assert main(["report", chosen, "-o", str(tmp_path / "page.html")]) == 0
        assert "2 runs" in capsys.readouterr().out
        assert "serial1" not in (tmp_path / "page.html").read_text()


def test_options_of_reading_do_nothing_to_a_collection_and_are_refused(runs, tmp_path, capsys):
    for command in (["signature"], ["assess"], ["diff", f"{runs}:ckpt4"], ["report", "-o", str(tmp_path / "x.html")]):
        assert main([*command, str(runs), "--window", "0:1"]) == 2
        assert "--window is for traces" in capsys.readouterr().err
    assert main(["diff", str(runs), str(runs), "--method", "ftio"]) == 2
    assert "--method is for traces" in capsys.readouterr().err


def test_scores_of_another_version_are_refused(runs, tmp_path, capsys):
    scores = tmp_path / "scores.json"
    scores.write_text(json.dumps({"schema_version": 99, "jobs": []}))
    assert main(["report", str(runs), "-o", str(tmp_path / "page.html"), "--scores", str(scores)]) == 1
    assert "schema_version is 99" in capsys.readouterr().err


def test_one_trace_further_below_is_named(fixtures, tmp_path, capsys):
    shutil.copytree(fixtures / "serial1", tmp_path / "job" / "traces" / "run")
    for command in ("layers", "periods", "info", "compare"):
        assert main([command, str(tmp_path / "job")]) == 1
        said = capsys.readouterr().err
        assert str(tmp_path / "job" / "traces" / "run" / "traces.otf2") in said
        assert "killed" not in said


def test_assess_and_the_page_rank_runs_alike_and_say_by_what(runs, tmp_path, capsys):
    assert main(["assess", str(runs), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    costs = [job["cost_s"] for job in document["jobs"]]
    assert document["order"] == "cost_s"
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == 3
    page = tmp_path / "page.html"
    assert main(["report", str(runs), "-o", str(page)]) == 0
    found = re.search(r'<script type="application/json" id="contents">(.*?)</script>', page.read_text())
    contents = json.loads(found[1])
    (section,) = (one for one in contents["sections"] if one["id"] == "ranking")
    assert "time lost in I/O" in section["title"]
    (table,) = (block for block in section["blocks"] if block["block"] == "table")
    assert [row[0]["title"] for row in table["rows"]] == [job["job"] for job in document["jobs"]]
    assert table["columns"][2]["title"] == "I/O cost"
    # Each with its cause in one line.
    assert [row[0]["notes"][0][1] for row in table["rows"]] == [job["cause"] for job in document["jobs"]]
    capsys.readouterr()
    main(["assess", str(runs)])
    lines = capsys.readouterr().out.splitlines()
    assert "ranked by time lost in I/O" in lines[0]
    for line, job in zip(lines[2:5], document["jobs"], strict=True):
        assert line.endswith(f"  {job['cause']}")
    main(["assess", str(runs), "--order", "problem-score"])
    assert "ranked by Problem-Score" in capsys.readouterr().out


def test_time_lost_is_not_known_of_tables(fixtures, capsys):
    assert main(["assess", str(fixtures / "ckpt4"), "--order", "time-lost"]) == 2
    assert "collect the traces first" in capsys.readouterr().err


def test_processes_that_read_give_warnings_as_the_command_does(run_process, fixtures, tmp_path):
    broken = tmp_path / "site" / "broken-1.0.dist-info"
    broken.mkdir(parents=True)
    (broken / "entry_points.txt").write_text("[iostrata.findings]\nbad = no_such_module:rule\n")
    traces = [fixtures / "serial1", fixtures / "threads2"]
    options = ("-o", tmp_path / "runs", "--workers", "2")
    done = run_process("collect", *traces, *options, PYTHONPATH=str(broken.parent))
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("iostrata: warning: 'bad' (no_such_module:rule) of broken")
