"""Tables of metrics as jobs: both forms, any order, missing and hostile content."""

from pathlib import Path

import numpy as np
import pytest
from iostrata import TraceError
from iostrata.runs.collection.rows import SegmentRow
from iostrata.runs.scores.assessment import assess
from iostrata.runs.scores.limits import train
from iostrata.runs.scores.traces import TraceJobs, block_of_rows

pytest.importorskip("pyarrow")
from iostrata.runs.scores import tables
from iostrata.runs.scores.tables import MetricTable

FIXTURES = Path(__file__).parents[3] / "fixtures"


def rows(jobs=5, seed=0):
    """Return samples every 5 s of a few jobs, metrics and nodes."""
    random = np.random.default_rng(seed)
    made = []
    for job in range(jobs):
        for node in range(random.integers(1, 4)):
            for metric in ("read_calls", "md_mod", "write_bytes"):
                values = random.lognormal(0, 2, 50)
                made += [(f"j{job}", f"n{node}", "fs", metric, 1000.0 * job + 5 * k, v) for k, v in enumerate(values)]
    return made


def means(made, segment):
    """Return the mean of each job, node, metric and segment, by a dictionary."""
    start, sums = {}, {}
    for job, *_, time, _value in made:
        start[job] = min(start.get(job, time), time)
    for job, node, _, metric, time, value in made:
        sums.setdefault((job, node, metric, int((time - start[job]) // segment)), []).append(value)
    return {key: np.mean(values) for key, values in sums.items()}


def read(path, segment=60.0):
    """Return the same of a table, and the blocks."""
    blocks = list(MetricTable(path, segment).blocks())
    found = {}
    for one in blocks:
        for place in range(len(one.job)):
            low, high = one.offset[place], one.offset[place + 1]
            names = one.jobs[one.job[place]], one.node_names[one.node[place]], tables.METRICS[one.metric[place]]
            for segment_, value in enumerate(one.values[low:high].tolist(), start=int(one.first[place])):
                if not np.isnan(value):
                    found[*names, segment_] = value
    return found, blocks


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_segments_are_the_means_of_their_samples(table, name, shuffled):
    made = rows()
    if shuffled:
        made = [made[place] for place in np.random.default_rng(1).permutation(len(made))]
    found, _ = read(table(made, name))
    expected = means(made, 60.0)
    assert found.keys() == expected.keys()
    assert all(found[key] == pytest.approx(expected[key]) for key in expected)


def test_series_of_a_block_are_of_the_file_systems_of_their_rows(table):
    made = [("j", "n", name, metric, 5.0 * k, 1.0) for name in ("work", "home") for metric in ("read_calls", "md_mod")
            for k in range(3)]  # fmt: skip
    (block,) = read(table(made))[1]
    assert sorted(block.filesystems[one] for one in block.filesystem) == ["home", "home", "work", "work"]


def test_a_table_read_in_parts_says_the_same(table, monkeypatch):
    path = table(rows(30), "t.parquet")
    whole, _ = read(path)
    monkeypatch.setattr(tables, "_AT_ONCE", 100)
    monkeypatch.setattr(tables, "_SORTED_HERE", 10)
    parts, blocks = read(path)
    assert len(blocks) > 5
    assert parts == whole


def test_a_large_table_whose_jobs_are_apart_is_refused_with_what_to_do(table, monkeypatch):
    made = sorted(rows(), key=lambda row: row[4] % 1000)
    monkeypatch.setattr(tables, "_SORTED_HERE", 10)
    with pytest.raises(TraceError, match="sort it by job"):
        read(table(made, "t.parquet"))


def test_negative_values_are_missing_and_unknown_metrics_ignored(table):
    made = rows(1)
    made[3] = (*made[3][:5], -1.0)
    made[4] = (*made[4][:5], float("nan"))
    made[5] = (*made[5][:5], float("inf"))
    made.append(("j0", "n0", "fs", "phase_of_the_moon", 0.0, 1.0))
    opened = MetricTable(table(made), 60.0)
    (block,) = opened.blocks()
    assert opened.missing == 3
    assert opened.ignored == {"phase_of_the_moon": 1}
    (first,) = np.flatnonzero((block.node == 0) & (block.metric == tables.METRICS.index("read_calls")))
    assert block.values[block.offset[first]] == pytest.approx(
        np.mean([row[5] for row in made[:12] if 0 <= row[5] < np.inf])
    )


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_bytes(b"\xef\xbb\xbfjob,node,filesystem,metric,time,value\nj,n,fs,read_calls,0,5\n")
    (block,) = MetricTable(path, 60.0).blocks()
    assert (block.jobs, block.values.tolist()) == (("j",), [5.0])


def test_the_last_segment_is_the_mean_of_what_there_is(table):
    made = [("j", "n", "fs", "md_mod", 5.0 * k, float(k)) for k in range(14)]
    _, (block,) = read(table(made))
    assert block.values.tolist() == [5.5, 12.5]
    assert (block.segments.tolist(), block.duration.tolist()) == ([2], [70.0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no column 'job'"),
        ("job,node,filesystem,metric,time\na,b,c,md_mod,1\n", "no column 'value'"),
        ("job,node,filesystem,metric,time,value\na,b,c,md_mod,1\n", "read"),
        ("job,node,filesystem,metric,time,value\na,b,c,md_mod,x,1\n", "read"),
        ("job,node,filesystem,metric,time,value\na,b,c,md_mod,0,1\na,b,c,md_mod,1e15,1\n", "more segments"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_in_one_line(tmp_path, text, words):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(TraceError, match=words) as caught:
        list(MetricTable(path, 60.0).blocks())
    assert "\n" not in str(caught.value)


def test_segments_shorter_than_any_are_refused_in_one_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("job,node,filesystem,metric,time,value\na,b,c,md_mod,0,1\na,b,c,md_mod,1e12,1\n")
    with pytest.raises(TraceError, match="more segments"):
        list(MetricTable(path, 1e-300).blocks())


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(TraceError, match="not a table"):
        MetricTable(path, 60.0)


def test_traces_are_jobs_whose_calls_are_those_of_the_layer():
    import iostrata

    jobs = TraceJobs((FIXTURES / "ckpt4", FIXTURES / "ncckpt4"), 0.1, iostrata.open_trace)
    blocks = list(jobs.blocks())
    for block, path in zip(blocks, jobs.paths, strict=True):
        trace = iostrata.open_trace(path)
        of_metric = block.metric_of_values == tables.METRICS.index("write_bytes")
        within = np.concatenate([np.arange(n) for n in np.diff(block.offset)])
        lengths = np.full(block.segments[0], 0.1)
        lengths[-1] = trace.duration - 0.1 * (block.segments[0] - 1)
        written = (block.values * lengths[within])[of_metric].sum()
        moved = sum(trace.layers[name].statistics("write").bytes for name in ("POSIX", "ISOC") if name in trace.layers)
        assert written == pytest.approx(moved)
    assert len(assess(blocks, train(blocks, segment_s=0.1))) == 2


def test_nodes_of_a_trace_without_a_row_did_nothing():
    row = SegmentRow(
        job="j", node="n0", filesystem="", metric="read_calls", start_s=0.0, segment_s=1.0, values=(9.0, 9.0)
    )
    block = block_of_rows("j", [row], 4, 1.0, 3.5)
    (found,) = assess([block], train([block], quantiles=(0.1, 0.2)), threshold=0)
    assert found.nodes == 4
    empty = block_of_rows("j", [], 4, 1.0, 3.5)
    (nothing,) = assess([empty], train([block]))
    assert (nothing.problem_score, nothing.segments, nothing.duration_s) == (0.0, 4, 3.5)


def test_a_job_of_longer_segments_is_left_out_and_told_and_the_others_stay(tmp_path):
    import pyarrow
    import pyarrow.parquet

    row = {"node": "n0", "filesystem": "fs", "metric": "md_mod", "start_s": 0.0}
    short = {**row, "job": "short", "segment_s": 5.0, "values": [1.0] * 24}
    long = {**row, "job": "long", "segment_s": 640.0, "values": [1.0] * 3}
    for name, held in (("both", [short, long]), ("one", [long])):
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(held), tmp_path / f"{name}.parquet")
    table = MetricTable(tmp_path / "both.parquet", 60.0)
    assert [job for block in table.blocks() for job in block.jobs] == ["short"]
    assert list(table.failed) == ["long"]
    assert "--segment 640" in table.failed["long"]
    both = MetricTable(tmp_path / "both.parquet", 640.0)
    assert [job for block in both.blocks() for job in block.jobs] == ["short", "long"]
    assert both.failed == {}
    with pytest.raises(TraceError, match="no job is left: long: it has segments of 640 s"):
        list(MetricTable(tmp_path / "one.parquet", 60.0).blocks())


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_samples_farther_apart_than_a_segment_are_refused_with_the_segment_to_take(table, name):
    path = table(rows(), name)
    with pytest.raises(TraceError, match=r"samples are 5 s apart, .* take --segment 5 or more"):
        list(MetricTable(path, 0.4).blocks())
    assert list(MetricTable(path, 5.0).blocks())


def test_runs_of_a_collection_that_did_nothing_are_jobs_and_those_that_failed_are_told(tmp_path):
    from iostrata.export.collection import CollectionWriter
    from iostrata.runs import Collection
    from iostrata.runs.collection.read import failed_run
    from iostrata.runs.collection.rows import JobRow, Run

    def run(name, **known):
        return Run(JobRow(job=f"/{name}/traces.otf2", name=name, status="read", reason=None, content=name, **known))

    row = SegmentRow(
        job="/busy/traces.otf2",
        node="n0",
        filesystem="fs",
        metric="md_mod",
        start_s=0.0,
        segment_s=5.0,
        values=(1.0, 9.0),
    )
    busy = Run(run("busy", settings="", nodes=2, duration_s=8.0).job, segments=(row,))
    idle = run("idle", settings="", nodes=3, duration_s=12.0)
    writer = CollectionWriter(tmp_path / "runs")
    with writer.opened():
        writer.add([busy, idle, failed_run(Path("/bad/traces.otf2"), "broken")])
        writer.finish()
    table = MetricTable(Collection(tmp_path / "runs"), 5.0)
    blocks = list(table.blocks())
    found = {one.job: one for one in assess(blocks, train(blocks))}
    told = {job: (one.segments, one.nodes, one.duration_s) for job, one in found.items()}
    assert told == {"/busy/traces.otf2": (2, 2, 8.0), "/idle/traces.otf2": (3, 3, 12.0)}
    assert found["/idle/traces.otf2"].problem_score == 0
    assert list(table.failed.values()) == ["/bad/traces.otf2: broken"]
