"""Which runs a user means by paths and patterns: the same of folders of traces and of collections."""

import shutil
from pathlib import Path

import pytest
from iostrata import TraceError
from iostrata.export.collection import CollectionWriter
from iostrata.runs import Collection, Settings
from iostrata.runs.collection.chosen import chosen_runs, read_chosen
from iostrata.runs.collection.collect import read_runs

pytest.importorskip("pyarrow")
FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return a folder of four small traces, two of one name, one in a folder with a colon, and their collection."""
    here = tmp_path_factory.mktemp("chosen")
    for place in ("traces/a/run1", "traces/b/run1", "traces/v2:new/other"):
        shutil.copytree(FIXTURES / "serial1", here / place)
    shutil.copytree(FIXTURES / "threads2", here / "traces/idle")
    traces = chosen_runs([here / "traces"]).traces
    writer = CollectionWriter(here / "runs")
    with writer.opened():
        writer.add(run for run in read_runs(traces, Settings(), {}, workers=1) if run is not None)
        writer.finish()
    return here


def _names(chosen) -> list[str]:
    paths = [*chosen.traces, *(Path(job.job) for one in chosen.collections for job in one.jobs)]
    return ["/".join(path.parts[-3:-1]) for path in paths]


@pytest.mark.parametrize("kind", ["traces", "runs"])
@pytest.mark.parametrize(
    ("patterns", "meant"),
    [
        (["run1"], ["a/run1", "b/run1"]),
        (["b/run1"], ["b/run1"]),
        (["*/traces/idle/*"], ["traces/idle"]),
        (["*v2:new*"], ["v2:new/other"]),
        (["a/*", "?/run1"], ["a/run1", "b/run1"]),
    ],
)
def test_a_pattern_picks_the_same_runs_of_a_folder_and_of_a_collection_each_once(folder, kind, patterns, meant):
    assert sorted(_names(chosen_runs([f"{folder / kind}:{one}" for one in patterns]))) == meant


def test_without_a_pattern_all_runs_are_meant_and_each_is_once(folder):
    for kind in ("traces", "runs"):
        found = _names(chosen_runs([folder / kind, f"{folder / kind}:*", folder / kind]))
        assert len(found) == len(set(found)) == 4
    assert _names(chosen_runs([folder / "traces/v2:new"])) == ["v2:new/other"]


def test_all_tables_tell_the_chosen_runs_only(folder):
    chosen = Collection(folder / "runs", ["b/*"])
    (job,) = chosen.jobs
    for table in ("job", "job_layer", "finding", "signal", "segment", "loop", "iteration"):
        jobs = {one for one in Collection(folder / "runs").table(table)["job"].to_pylist() if one == job.job}
        assert set(chosen.table(table)["job"].to_pylist()) == jobs
    assert chosen.runs() == tuple(run for run in Collection(folder / "runs").runs() if run.job == job)


def test_what_matches_nothing_is_said_with_the_names_there_are(folder):
    with pytest.raises(TraceError, match=r"matches 'x\*'; there are idle, other, run1"):
        chosen_runs([f"{folder / 'traces'}:x*"])
    with pytest.raises(TraceError, match=r"no run in .* matches 'x\*'"):
        chosen_runs([f"{folder / 'runs'}:run1", f"{folder / 'runs'}:x*"])
    with pytest.raises(TraceError, match="no such file or folder"):
        chosen_runs([f"{folder / 'nowhere'}:x*"])


def test_runs_are_read_by_the_same_names(folder):
    read = [read_chosen(f"{folder / kind}:run1", Settings(), workers=1) for kind in ("traces", "runs")]
    assert [run.job.job for run in read[0]] == [run.job.job for run in read[1]]


def test_traces_are_read_by_the_settings_that_are_given(folder):
    whole, part, by_default = (
        read_chosen(f"{folder / 'traces'}:a/run1", settings, workers=1)[0].job
        for settings in (Settings(), Settings(window=(0.0, 0.01)), None)
    )
    assert whole == by_default
    assert part != whole
