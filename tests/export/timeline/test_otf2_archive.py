"""A trace written anew is the same trace: layers, handles, comparison, periods; and nothing half-way is left behind."""

import errno
import os
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from iostrata import OutputError, open_trace, write_otf2
from iostrata.analysis.comparison.layer_periods import chosen_layers, layer_periods
from iostrata.analysis.comparison.layers import compare_layers
from iostrata.analysis.findings.facts import Facts
from iostrata.export.json.documents import handles_document, layers_document, periods_document
from iostrata.layers.attribution.callers import TraceCalls
from iostrata.layers.attribution.calls.meetings import Meetings
from iostrata.model.codes import IoFlag

FIXTURES = Path(__file__).parents[3] / "fixtures"
ARCHIVES = sorted(anchor.parent.name for anchor in FIXTURES.glob("*/traces.otf2"))
NOTE = " (may come from the trace's damage)"
"""What findings add where the trace is damaged; nothing tells that of the new archive."""
CALLS = ("chain", "cost", "exclusive_s", "metadata_calls", "metadata_s", "overlap")
"""What is told of calls, as Enter and Leave record them; a new archive has none."""


def told(trace):
    """Return all that the commands tell of a trace, without what is of its files."""
    layers = trace.layers.values()
    periods = layer_periods(chosen_layers(trace, ()))
    documents = [
        layers_document(trace, layers),
        handles_document(trace),
        periods_document(trace, periods),
        compare_layers(trace).to_dict(),
    ]
    documents[1]["handles"] = list(documents[1]["handles"])
    for part in (*documents, *documents[1]["handles"]):
        for key in CALLS:
            part.pop(key, None)
    for document in documents:
        del document["damage"]
        for fact in ("path", "events", "engine"):
            del document["trace"][fact]
    # How long metadata and filling take, what opens cost who moves most, who waits and computes, is what calls tell.
    by_calls = (
        "fill-values",
        "imbalance",
        "late-arrivals",
        "small-files",
        "metadata-storm",
        "metadata-time",
        "not-overlapped",
        "serial-io",
        "stragglers",
    )
    documents[-1]["findings"] = [one for one in documents[-1]["findings"] if one["id"] not in by_calls]
    if (trace.relations.cells.flags & IoFlag.NON_BLOCKING).any():
        # What ranks wait for these is what calls tell: whom they cost most, how much, and so their order.
        known = [{key: one[key] for key in ("id", "layer")} for one in documents[-1]["findings"]]
        documents[-1]["findings"] = sorted(known, key=lambda one: tuple(one.values()))
        return documents
    for finding in documents[-1]["findings"]:
        finding["text"] = finding["text"].removesuffix(NOTE)
        function, caller = (finding["evidence"].pop(name, "") for name in ("function", "caller"))
        named = f"{function} in {caller.partition(' (')[0]}" if caller else function
        for left_out in (f"; {named}", f" ({named})") if named else ():
            finding["text"] = finding["text"].replace(left_out, "")
    return documents


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_trace_written_anew_is_the_same_trace(tmp_path, monkeypatch, name):
    # What ranks wait in calls of several of them, and what calls do around operations, is what calls tell, too.
    for name_of in ("meetings", "all_meetings"):
        monkeypatch.setattr(TraceCalls, name_of, Meetings.empty())
    monkeypatch.setattr(Facts, "longest_in_calls_s", lambda facts, _layer, _way, cells: facts.longest_s(cells))
    monkeypatch.setattr(Facts, "has_views", lambda _facts, _layer: False)
    trace = open_trace(FIXTURES / name)
    written = write_otf2(trace, tmp_path / "anew.otf2")
    assert written.bytes == sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    done = subprocess.run(["otf2-print", written.path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    assert done.stderr == b""
    again = open_trace(written.path)
    assert written.events == again.tally.io_events == again.tally.events
    # What had been lost is lost in the copy too, and said there.
    assert again.damage.locations == tuple(replace(one, inherited=True) for one in trace.damage.locations)
    for before, after in zip(told(trace), told(again), strict=True):
        assert after == before


@pytest.mark.parametrize("name", ["ncckpt4", "nonblocking4", "threads2"])
def test_bounded_memory_writes_the_same_events(tmp_path, name):
    trace = open_trace(FIXTURES / name)
    written = write_otf2(trace, tmp_path / "full.otf2")
    bounded = write_otf2(open_trace(FIXTURES / name, memory=400_000_000), tmp_path / "bounded.otf2")
    assert bounded.events == written.events
    first, second = (open_trace(one.path, files="all") for one in (written, bounded))
    for column in ("location", "begin", "issued", "end", "handle", "moved", "offset"):
        assert getattr(first.operations, column).tolist() == getattr(second.operations, column).tolist()


def test_what_is_there_is_not_touched(tmp_path):
    trace = open_trace(FIXTURES / "serial1")
    (tmp_path / "old.def").write_text("mine")
    with pytest.raises(OutputError, match=r"old\.def.*is there already"):
        write_otf2(trace, tmp_path / "old.otf2")
    with pytest.raises(OutputError, match="an anchor is called NAME"):
        write_otf2(trace, tmp_path / "old.OTF2")
    with pytest.raises(OutputError, match="cannot write"):
        write_otf2(trace, tmp_path / "none" / "x.otf2")
    assert [path.name for path in tmp_path.iterdir()] == ["old.def"]
    assert (tmp_path / "old.def").read_text() == "mine"


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt()])
@pytest.mark.parametrize("call", ["pwrite", "open"])
def test_a_full_disk_and_an_interrupt_leave_nothing(tmp_path, monkeypatch, error, call):
    trace = open_trace(FIXTURES / "nonblocking4")
    real, left = getattr(os, call), [3]

    def failing(*arguments, **options):
        if call == "pwrite" or str(arguments[0]).endswith(".evt"):
            left[0] -= 1
            if left[0] < 0:
                raise error
        return real(*arguments, **options)

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(OutputError if isinstance(error, OSError) else KeyboardInterrupt) as caught:
        write_otf2(trace, tmp_path / "x.otf2")
    if isinstance(error, OSError):
        assert "no space left on device; free some space" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_move_that_fails_is_taken_back(tmp_path, monkeypatch):
    trace = open_trace(FIXTURES / "serial1")
    rename = Path.rename

    def failing(path, target):
        if path.suffix == ".otf2":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OutputError):
        write_otf2(trace, tmp_path / "x.otf2")
    assert not list(tmp_path.iterdir())


def test_of_two_writers_at_once_one_succeeds(tmp_path):
    trace = open_trace(FIXTURES / "serial1")
    start, outcomes = threading.Barrier(2), []

    def write():
        start.wait()
        try:
            outcomes.append(write_otf2(trace, tmp_path / "x.otf2").events)
        except OutputError:
            outcomes.append(None)

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes, key=str) == [trace.tally.io_events, None]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "x.def", "x.otf2"]
    assert len(open_trace(tmp_path / "x.otf2").operations) == len(trace.operations)
