"""Traces read into a collection: what the rows say, what is read again, and what becomes of an interrupted call."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from iostrata import IostrataError, OutputError, TraceError, open_trace
from iostrata.analysis.comparison.headline import headline_of
from iostrata.analysis.comparison.iterations import loops_of
from iostrata.analysis.comparison.layer_periods import layer_periods
from iostrata.analysis.findings.find import find
from iostrata.analysis.loops.find import find_loops
from iostrata.analysis.loops.words import body_text
from iostrata.cli import main
from iostrata.export.collection import CollectionWriter
from iostrata.runs import Collection, Run, Settings, read_run
from iostrata.runs.collection.collect import read_runs
from iostrata.runs.collection.content import content_hash, find_traces
from iostrata.runs.collection.loops import steps_of
from iostrata.runs.collection.read import job_key
from iostrata.runs.collection.rows import TABLES
from iostrata.runs.collection.segments import METRICS, SYSTEM_LAYERS, SegmentSums

pytest.importorskip("pyarrow")
SETTINGS = Settings(segment=0.1)


@pytest.fixture(scope="module")
def run(fixtures: Path) -> Run:
    found = read_run(fixtures / "ckpt4" / "traces.otf2", SETTINGS)
    assert found is not None
    return found


def collect(folder: Path, paths, *, workers: int = 1, settings: Settings = SETTINGS) -> CollectionWriter:
    writer = CollectionWriter(folder)
    with writer.opened():
        writer.add(one for one in read_runs(paths, settings, writer.known, workers=workers) if one is not None)
        writer.finish()
    return writer


def copies(source: Path, folder: Path, count: int) -> list[Path]:
    return [Path(shutil.copytree(source, folder / f"run{number}"), "traces.otf2") for number in range(count)]


@pytest.mark.parametrize("known", [False, True])
def test_what_could_not_be_begun_leaves_no_folder(fixtures, tmp_path, monkeypatch, known):
    """As on a full disk; a folder that was there stays."""
    folder = tmp_path / "runs"
    if known:
        folder.mkdir()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    with pytest.raises(OutputError, match="no space left on device"):
        collect(folder, [fixtures / "ckpt4" / "traces.otf2"])
    assert folder.exists() == known


@pytest.mark.parametrize("name", ["late4", "mixed4", "threads2"])
def test_periods_are_those_of_the_loops_as_the_command_periods_tells_them(fixtures, name):
    """By the bandwidth alone one of their layers has another period, or none."""
    row = read_run(fixtures / name / "traces.otf2", SETTINGS)
    trace = open_trace(fixtures / name)
    told = list(layer_periods(trace.layers.values(), loops=loops_of(trace)))
    assert any(one.by_signal is not None and one.by_signal.period != one.result.period for one in told)
    periods = {(one.layer, one.direction): one.period_s for one in row.layers}
    for one in told:
        assert periods[one.layer, one.direction] == one.result.period


def test_rows_are_what_the_trace_says(run, fixtures):
    trace = open_trace(fixtures / "ckpt4")
    assert run.job.layers == tuple(trace.layers)
    for row in run.layers:
        layer = trace.layers[row.layer]
        if row.direction in ("read", "write"):
            statistics = layer.statistics(row.direction)
            assert (row.operations, row.bytes, row.busy_s) == (
                statistics.operations,
                statistics.bytes,
                statistics.busy_s,
            )
            assert row.request_p50 == statistics.request_bytes.p50
    own = sum(layer.statistics("write", "own").bytes for layer in trace.layers.values())
    assert run.job.bytes_written == own
    for signal in run.signals:
        bytes_moved = trace.layers[signal.layer].statistics(signal.direction).bytes
        assert len(signal.values) == 512
        assert sum(signal.values) * signal.bin_s == pytest.approx(bytes_moved, rel=1e-9)
    assert {one.id for one in run.findings} >= {"funnelled-collective"}
    first = headline_of(trace, find(trace))
    assert (run.job.io_share, run.job.cause) == (first.io_share, first.cause)
    assert first.cause
    assert first.text.partition(")")[2].lstrip(" ,:;").startswith(first.cause)


def test_metrics_by_node_keep_bytes_and_calls(run, fixtures):
    trace = open_trace(fixtures / "ckpt4")
    system = [trace.layers[name] for name in ("POSIX", "ISOC")]
    sums = dict.fromkeys(METRICS, 0.0)
    last = run.job.duration_s % 0.1
    for row in run.segments:
        widths = [row.segment_s] * (len(row.values) - 1) + [last]
        sums[row.metric] += sum(value * width for value, width in zip(row.values, widths, strict=True))
    for direction in ("read", "write"):
        statistics = [layer.statistics(direction) for layer in system]
        assert sums[f"{direction}_bytes"] == pytest.approx(sum(one.bytes for one in statistics))
        assert sums[f"{direction}_calls"] == pytest.approx(sum(one.operations for one in statistics))
    events = sum(row.operations for row in run.layers if row.direction == "metadata" and row.layer in ("POSIX", "ISOC"))
    assert sum(sums[name] for name in METRICS if name.startswith("md_")) == pytest.approx(events)
    assert sums["md_file_create"] > 0


def test_segments_add_up_however_long_they_are(fixtures):
    trace = open_trace(fixtures / "ncckpt4")
    start, end = trace.window
    volumes = []
    for seconds in (0.013, 0.4, 5.0):
        volume = 0.0
        for row in trace.stream.summed(lambda seconds=seconds: SegmentSums(trace, seconds)).rows("job"):
            if row.metric == "write_bytes":
                edges = [min(start + place * row.segment_s, end) for place in range(len(row.values) + 1)]
                volume += sum(
                    value * (high - low) for value, low, high in zip(row.values, edges, edges[1:], strict=False)
                )
        volumes.append(volume)
    assert volumes == pytest.approx([volumes[0]] * 3)


def test_a_trace_summed_up_in_bounded_memory_gives_the_same_numbers(run, fixtures):
    bounded = read_run(fixtures / "ckpt4" / "traces.otf2", Settings(segment=0.1, memory=400_000_000))
    exact = {(row.layer, row.direction): row for row in run.layers}
    small = Settings(segment=0.1, memory=1)
    assert read_run(fixtures / "ckpt4" / "traces.otf2", small).job.status == "failed"  # said, not raised
    assert bounded.job.bytes_written == run.job.bytes_written
    for row in bounded.layers:
        assert row.operations == exact[row.layer, row.direction].operations


def test_folders_are_searched_and_aborted_recordings_are_found(fixtures, tmp_path):
    first, second = copies(fixtures / "serial1", tmp_path / "deep" / "er", 2)
    second.unlink()
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "empty").mkdir()
    assert list(find_traces([tmp_path])) == [first, second.parent]
    assert list(find_traces([tmp_path, first])) == [first, second.parent]
    nothing = [tmp_path / "empty", tmp_path / "missing"]
    assert list(find_traces([*nothing, first])) == [first, *nothing]
    with pytest.raises(TraceError, match=r"no trace in the folder .*empty; give"):
        list(find_traces(nothing))
    with pytest.raises(TraceError, match=r"no such file or folder: .*missing; give"):
        list(find_traces(nothing[1:]))


def test_an_empty_folder_is_one_line_and_leaves_no_tables(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    out = tmp_path / "runs"
    assert main(["collect", str(tmp_path / "empty"), "-o", str(out)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "no trace in the folder" in printed.err
    assert not list(out.glob("*.parquet"))


def test_any_file_of_a_trace_changes_its_content(fixtures, tmp_path):
    (trace,) = copies(fixtures / "serial1", tmp_path, 1)
    hashes = {content_hash(trace)[0]}
    for file in [trace, trace.with_suffix(".def"), *sorted((trace.parent / "traces").iterdir())]:
        file.write_bytes(file.read_bytes() + b"\0")
        hashes.add(content_hash(trace)[0])
    assert len(hashes) == 3 + len(list((trace.parent / "traces").iterdir()))


def test_what_did_not_change_is_not_read_again(fixtures, tmp_path):
    traces = copies(fixtures / "serial1", tmp_path / "traces", 3)
    writer = collect(tmp_path / "runs", traces)
    before = {job.job: job.content for job in Collection(writer.path).jobs}
    assert [read_run(path, SETTINGS, writer.known[job_key(path)]) for path in traces] == [None] * 3
    assert read_run(traces[0], Settings(segment=2.0), writer.known[job_key(traces[0])]) is not None
    shutil.rmtree(traces[1].parent)
    shutil.copytree(fixtures / "ckpt4_linktime", traces[1].parent)
    collect(writer.path, traces)
    after = {job.job: job.content for job in Collection(writer.path).jobs}
    assert after.keys() == before.keys()
    assert {job for job in after if after[job] != before[job]} == {job_key(traces[1])}
    for name in TABLES:
        rows = Collection(writer.path).table(name).to_pylist()
        assert len({repr(row) for row in rows}) == len(rows)


@pytest.mark.parametrize("damage", ["empty", "cut", "no-definitions", "text", "folder"])
def test_a_bad_trace_is_one_row_that_says_why(damage, fixtures, tmp_path):
    good, bad = copies(fixtures / "serial1", tmp_path / "traces", 2)
    if damage == "empty":
        bad.write_bytes(b"")
    elif damage == "cut":
        bad.write_bytes(bad.read_bytes()[:20])
    elif damage == "no-definitions":
        bad.with_suffix(".def").unlink()
    elif damage == "text":
        bad.write_text("\x1b[31mno trace\n")
    else:
        bad.unlink()
        bad.mkdir()
    collect(tmp_path / "runs", [good, bad])
    jobs = {job.name: job for job in Collection(tmp_path / "runs").jobs}
    assert (jobs["run0"].status, jobs["run1"].status) == ("read", "failed")
    assert jobs["run1"].reason.isprintable()
    assert str(bad.parent) in jobs["run1"].reason
    collect(tmp_path / "runs", [good, bad])
    assert len(Collection(tmp_path / "runs").jobs) == 2


def test_processes_give_the_rows_of_one(fixtures, tmp_path):
    traces = [fixtures / name / "traces.otf2" for name in ("serial1", "ckpt4", "ncckpt4", "ckpt4_linktime")]
    tables = []
    for workers in (1, 2):
        collect(tmp_path / str(workers), traces, workers=workers)
        tables.append(Collection(tmp_path / str(workers)).runs())
    assert tables[0] == tables[1]


def test_a_process_that_is_killed_costs_its_trace_only(fixtures, tmp_path, monkeypatch):
    traces = copies(fixtures / "serial1", tmp_path, 3)
    # The worker imports the package anew, so what kills it has to come from outside: an import that ends the process.
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import sys, os\n"
        "def hook(event, arguments):\n"
        "    if event == 'open' and 'run1/traces.otf2' in str(arguments[0]): os._exit(9)\n"
        "if any('multiprocessing' in one for one in sys.argv + sys.orig_argv): sys.addaudithook(hook)\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), *sys.path]))
    runs = {run.job.name: run.job for run in read_runs(traces, SETTINGS, {}, workers=2)}
    assert {name: job.status for name, job in runs.items()} == {"run0": "read", "run1": "failed", "run2": "read"}
    assert "killed" in runs["run1"].reason


def test_batches_of_a_killed_program_are_taken_up(fixtures, tmp_path):
    traces = copies(fixtures / "serial1", tmp_path / "traces", 4)
    writer = CollectionWriter(tmp_path / "runs")
    with writer.opened():
        writer.add(read_runs(traces[:2], SETTINGS, {}, workers=1))
        writer.add(read_runs(traces[1:3], SETTINGS, {}, workers=1))  # one of them twice
    assert not (writer.path / "job.parquet").exists()
    (writer.path / ".pending" / ".00000009").mkdir()  # a batch that was not complete
    assert len(Collection(writer.path).jobs) == 3
    collect(writer.path, traces)
    assert [job.name for job in Collection(writer.path).jobs] == ["run0", "run1", "run2", "run3"]
    assert list((writer.path / ".pending").iterdir()) == []
    collect(tmp_path / "at once", traces)
    assert Collection(writer.path).runs() == Collection(tmp_path / "at once").runs()


def test_rows_are_the_same_when_tables_were_half_rewritten(fixtures, tmp_path):
    traces = copies(fixtures / "serial1", tmp_path / "traces", 3)
    collect(tmp_path / "runs", traces[:1])
    writer = CollectionWriter(tmp_path / "runs")
    with writer.opened():
        writer.add(read_runs(traces, Settings(segment=0.2), {}, workers=1))
        # As if it ended after two of the tables.
        for name in ("job", "signal"):
            writer._rewrite(Collection(writer.path), name, frozenset())
    expected = Collection(writer.path).runs()
    with writer.opened():
        writer.finish()
    assert Collection(writer.path).runs() == expected
    assert len(Collection(writer.path).table("signal")) == sum(len(run.signals) for run in expected)


def test_tables_are_replaced_together_or_not_at_all(fixtures, tmp_path, monkeypatch):
    """Where there is no room for one, the old ones stay, and what was read waits for the next call."""
    traces = copies(fixtures / "serial1", tmp_path / "traces", 3)
    folder = tmp_path / "runs"
    rewrite = CollectionWriter._rewrite

    def full(writer, collection, name, outdated):
        if name == list(TABLES)[2]:
            raise OSError(28, "No space left on device")
        rewrite(writer, collection, name, outdated)

    for first in (True, False):
        before = {path: path.read_bytes() for path in folder.glob("*") if path.is_file()}
        assert bool(before) != first
        with monkeypatch.context() as patched:
            patched.setattr(CollectionWriter, "_rewrite", full)
            with pytest.raises(OutputError, match="no space left on device"):
                collect(folder, traces[:1] if first else traces)
        assert {path: path.read_bytes() for path in folder.glob("*") if path.is_file()} == before
        collect(folder, [] if first else traces)
        assert len(Collection(folder).runs()) == (1 if first else 3)


def test_killed_for_good_and_repeated_nothing_is_lost_or_doubled(fixtures, tmp_path):
    copies(fixtures / "serial1", tmp_path / "traces", 12)
    command = [sys.executable, "-m", "iostrata.cli", "collect", str(tmp_path / "traces"), "-o", str(tmp_path / "runs")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([*command, "--workers", "1"], env=environment)
    while process.poll() is None and not list(tmp_path.glob("runs/.pending/*")):
        time.sleep(0.05)
    process.kill()
    process.wait()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "12 runs" in done.stdout
    for name in TABLES:
        table = Collection(tmp_path / "runs").table(name)
        jobs = table["job"].to_pylist()
        assert len(set(jobs)) == 12
        assert all(jobs.count(job) == len(jobs) // 12 for job in jobs)
    assert len(Collection(tmp_path / "runs").table("job")) == 12


def test_one_program_at_a_time_and_no_other_folder(tmp_path):
    writer = CollectionWriter(tmp_path / "runs")
    with (
        writer.opened(),
        pytest.raises(OutputError, match="another program"),
        CollectionWriter(tmp_path / "runs").opened(),
    ):
        pass
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("")
    with pytest.raises(OutputError, match="something else"), CollectionWriter(tmp_path / "other").opened():
        pass
    with pytest.raises(TraceError, match="no collection"):
        Collection(tmp_path / "other")


def test_tables_that_are_none_are_refused_in_a_line(tmp_path):
    (tmp_path / "job.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(IostrataError) as caught:
        _ = Collection(tmp_path).jobs
    assert "\n" not in str(caught.value)


def test_a_collection_is_the_same_whoever_is_done_first(fixtures, tmp_path):
    """The first trace takes far longer than all others together."""
    slow = copies(fixtures / "ior384", tmp_path / "a", 1)
    traces = [*slow, *copies(fixtures / "serial1", tmp_path / "b", 7)]
    results = read_runs(traces, SETTINGS, {}, workers=2)
    assert [run.job.job for run in results] == [str(path) for path in traces]


def test_memory_follows_what_is_worked_on(fixtures):
    """However many traces there are, only a few are asked for ahead of what is taken."""
    asked = []

    def paths():
        for number in range(1000):
            asked.append(number)
            yield fixtures / "serial1" / "traces.otf2"

    results = read_runs(paths(), SETTINGS, {}, workers=2)
    next(results)
    assert len(asked) < 20
    results.close()


def test_a_trace_that_was_still_being_written_is_no_second_run_once_it_is_done(fixtures, tmp_path):
    done = Path(shutil.copytree(fixtures / "serial1", tmp_path / "traces" / "run1"), "traces.otf2")
    anchor = done.read_bytes()
    broken = tmp_path / "traces" / "run2" / "traces.otf2"
    broken.parent.mkdir()
    broken.write_bytes(b"no anchor")
    done.unlink()
    writer = collect(tmp_path / "runs", find_traces([tmp_path / "traces"]))
    assert {(Path(job.job), job.status) for job in Collection(writer.path).jobs} == {
        (done.parent, "failed"), (broken, "failed"),
    }  # fmt: skip
    done.write_bytes(anchor)
    collect(writer.path, find_traces([tmp_path / "traces"]))
    assert {(Path(job.job), job.status) for job in Collection(writer.path).jobs} == {
        (done, "read"), (broken, "failed"),
    }  # fmt: skip


def test_the_loops_of_a_run_are_kept_with_what_each_iteration_moved(run, fixtures):
    found = find_loops(open_trace(fixtures / "ckpt4"))
    assert [row.count for row in run.loops] == [one.count for one in found.outermost]
    for row, loop in zip(run.loops, found.outermost, strict=True):
        assert row.text == body_text(loop, found.loops)
        assert row.iteration_begin_s == tuple(one.begin_s for one in loop.iterations)
        parts = [one for one in run.iterations if one.loop == row.loop]
        assert {one.layer: sum(one.bytes_written) for one in parts} == {
            name: part.bytes_written for name, part in loop.sums.items()
        }
        assert {len(values) for one in parts for values in (one.busy_s, one.flushes)} == {row.count}
    checkpoints = max(run.loops, key=lambda row: row.count * row.ranks if "2 MiB" in row.text else 0)
    (upper,) = (one for one in run.iterations if (one.loop, one.layer) == (checkpoints.loop, "MPI-IO"))
    assert min(upper.metadata_operations) == 8  # opened and closed by four ranks
    assert [(one.kind, one.bytes, one.often) for one in steps_of(checkpoints)][:2] == [
        ("open", None, 1),
        ("write", 2 << 20, 1),
    ]
    assert all(
        steps_of(replace(checkpoints, steps=wrong)) == () for wrong in ("[[1]]", '[["", "", 1, "", 1, 0, "much"]]')
    )


def test_what_hands_traces_to_processes_loads_neither_compiler_nor_statistics():
    """Each would take tens of MB beside the processes that read."""
    code = "import sys, iostrata.export.collection; print(*{'numba', 'scipy', 'pyarrow'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not done.stdout.split()


@pytest.mark.parametrize("seconds", [0.0005, 0.02, 0.1])
def test_segments_are_the_bandwidth_of_the_system_calls(fixtures, seconds):
    """Segments within an operation, and operations within a segment."""
    trace = open_trace(fixtures / "ckpt4")
    sums = trace.stream.summed(lambda: SegmentSums(trace, seconds))
    system = [layer for name, layer in trace.layers.items() if name in SYSTEM_LAYERS]
    for direction in ("read", "write"):
        found = sum(np.array(one.values) for one in sums.rows("job") if one.metric == f"{direction}_bytes")
        expected = sum(layer.bandwidth(direction).sample(1 / sums.segment_s).values for layer in system)
        assert found[:-1] == pytest.approx(expected[: len(found) - 1], rel=1e-6, abs=1e-3)


def test_long_runs_are_in_small_row_groups_and_what_repeats_is_held_once(run, tmp_path):
    """A run of hours has thousands of segments by node and metric: memory follows a few of them."""
    import pyarrow.parquet

    longer = replace(run.segments[0], values=(0.0,) * 40_000)
    runs = [
        replace(run, job=replace(run.job, job=f"run{number}"), segments=(replace(longer, job=f"run{number}"),) * 3)
        for number in range(24)
    ]
    writer = CollectionWriter(tmp_path / "runs")
    with writer.opened():
        writer.add(runs)
        writer.finish()
    about = pyarrow.parquet.read_metadata(tmp_path / "runs" / "segment.parquet")
    sizes = [about.row_group(number).num_rows * 40_000 * 8 for number in range(about.num_row_groups)]
    assert sum(sizes) == 24 * 3 * 40_000 * 8
    assert max(sizes) < 20_000_000
    found = Collection(tmp_path / "runs").jobs
    assert len({id(job.settings) for job in found}) == len({id(job.findings_sought) for job in found}) == 1
    assert found[0].findings_sought == run.job.findings_sought
