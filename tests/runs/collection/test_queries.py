"""The queries of the guide, as they stand there, on a collection of real traces: any tool can ask it."""

import re
from pathlib import Path

import pytest
from iostrata import TraceError
from iostrata.cli import main
from iostrata.runs import Collection
from iostrata.runs.collection.tables import reading

pyarrow = pytest.importorskip("pyarrow")
GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "many-runs.rst"
NAMES = ("serial1", "ckpt4", "ncckpt4", "ckpt4_linktime")


def examples(language: str) -> list[str]:
    """Return the examples of a language in the guide."""
    blocks = re.findall(rf"^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)", GUIDE.read_text(), re.MULTILINE)
    return ["\n".join(line[3:] for line in block.splitlines()) for block in blocks]


@pytest.fixture(scope="module")
def folder(fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which ``runs`` is a collection."""
    folder = tmp_path_factory.mktemp("queries")
    traces = [str(fixtures / name / "traces.otf2") for name in NAMES]
    assert main(["collect", *traces, "-o", str(folder / "runs"), "--segment", "0.5", "--workers", "1"]) == 0
    return folder


def test_with_duckdb(folder, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(folder)
    runs = {run.job.job: run for run in Collection(folder / "runs").runs()}
    statements = [one for block in examples("sql") for one in block.split(";") if one.strip()]
    assert len(statements) == 4
    longest, small, findings, metrics = (duckdb.sql(one).fetchall() for one in statements)
    shares = sorted((run.job.io_s / run.job.duration_s for run in runs.values()), reverse=True)
    assert [row[3] for row in longest] == pytest.approx(shares)
    assert {row[0] for row in small} == {
        run.job.name
        for run in runs.values()
        for row in run.layers
        if (row.layer, row.direction) == ("POSIX", "write") and row.request_p50 < 65536
    }
    counted = {(row[0], row[1]): row[2] for row in findings}
    assert counted == {
        key: sum(key in {(one.id, one.severity) for one in run.findings} for run in runs.values()) for key in counted
    }
    assert sum(counted.values()) > 0
    expected = [
        (row.job, row.node, row.filesystem, row.metric, row.start_s + row.segment_s * place, value)
        for run in runs.values()
        for row in run.segments
        for place, value in enumerate(row.values)
    ]
    assert sorted(metrics) == sorted(expected)


def test_with_pandas(folder, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(folder)
    (script,) = (one for one in examples("python") if "runs/job.parquet" in one)
    known: dict[str, object] = {}
    exec(script, known)
    first = Collection(folder / "runs").table("signal").to_pylist()[0]
    (row,) = (
        row
        for row in Collection(folder / "runs").table("job_layer").to_pylist()
        if all(row[name] == first[name] for name in ("job", "layer", "direction"))
    )
    assert known["volume"] == pytest.approx(row["bytes"])
    assert len(known["jobs"]) == len(NAMES)


def test_codings_of_jobs_with_pandas(tmp_path, monkeypatch, capsys):
    """Of six jobs two never score; of the four others two do throughout, one of the two long ones among them."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    jobs = ("0", "0:0:0:0:0", "135:129", "0:256", "16:16:16:48", "0:0:0:0:32")
    lines = (f"{coding},{18000000 + number}" for number, coding in enumerate(jobs))
    (tmp_path / "codings.csv").write_text("\n".join(["coding,jobid", *lines]))
    (script,) = (one for one in examples("python") if "codings.csv" in one)
    known: dict[str, object] = {}
    exec(script, known)
    shares = [re.search(r"[\d.]+%", line)[0] for line in capsys.readouterr().out.splitlines() if "scores" in line]
    assert shares == ["33.3%", "50.0%", "50.0%"]
    assert known["shares"].to_dict() == pytest.approx(
        dict.fromkeys(known["METRICS"], 0.0)
        | {"md_file_create": 2 / 19, "md_file_delete": 1 / 19, "md_mod": 1 / 19, "write_bytes": 2 / 19}
        | {"write_calls": 1 / 19, "md_read": 4 / 19, "read_bytes": 2 / 19}
    )


def test_what_the_library_of_tables_cannot_read_is_told_in_one_line(tmp_path):
    told = r"cannot read the table .*runs\.parquet: no such integers; collect"
    with pytest.raises(TraceError, match=told), reading(tmp_path / "runs.parquet"):
        raise pyarrow.ArrowNotImplementedError("no such integers")
