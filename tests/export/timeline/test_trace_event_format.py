"""Trace events are what the format's document asks for, and what Perfetto's importer draws without dropping anything.

Rules: Google, *Trace Event Format*; Perfetto reads times as float64 µs, makes whole nanoseconds of them by cutting off,
and drops slices that overlap on a track without one lying inside the other.
"""

import json
import math
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import Regime, open_trace, write_perfetto
from iostrata.analysis.comparison.layer_periods import LayerPeriod
from iostrata.export.timeline import perfetto

FIXTURES = Path(__file__).parents[3] / "fixtures"
NEEDED = {
    "X": {"ph", "name", "cat", "ts", "dur", "pid", "tid", "args"},
    "C": {"ph", "name", "ts", "pid", "tid", "args"},
    "M": {"ph", "name", "pid", "tid", "args"},
    "s": {"ph", "name", "cat", "id", "ts", "pid", "tid"},
    "f": {"ph", "name", "cat", "id", "ts", "pid", "tid", "bp"},
}
METADATA = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index"}
METADATA["thread_sort_index"] = "sort_index"


def nanoseconds(microseconds: float) -> int:
    """Return what an importer makes of a time."""
    return int(float(microseconds) * 1000.0)


def check_document(text: str) -> dict[str, Any]:
    """Check a document against the format and give it."""

    def refuse(name: str) -> float:
        raise AssertionError(f"{name} is no JSON")

    document = json.loads(text, parse_constant=refuse)
    assert set(document) == {"displayTimeUnit", "otherData", "traceEvents"}
    assert document["displayTimeUnit"] in ("ms", "ns")
    named: dict[str, set[Any]] = defaultdict(set)
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    counters: dict[tuple[int, str], list[int]] = defaultdict(list)
    arrows: dict[str, list[dict[str, Any]]] = {"s": [], "f": []}
    for event in document["traceEvents"]:
        kind = event["ph"]
        assert set(event) == NEEDED[kind]
        assert isinstance(event["name"], str)
        assert event["name"]
        # Number 0 stands for the idle task in Perfetto.
        assert isinstance(event["pid"], int)
        assert event["pid"] > 0
        assert isinstance(event["tid"], int)
        assert event["tid"] >= (1 if kind in "Xsf" else 0)
        if kind == "M":
            value = event["args"][METADATA[event["name"]]]
            assert set(event["args"]) == {METADATA[event["name"]]}
            assert isinstance(value, str if event["name"].endswith("_name") else int)
            key = event["pid"] if event["name"].startswith("process") else (event["pid"], event["tid"])
            assert key not in named[event["name"]], "named twice"
            named[event["name"]].add(key)
            continue
        assert math.isfinite(event["ts"])
        assert event["ts"] >= 0
        if kind in "sf":
            arrows[kind].append(event)
        elif kind == "C":
            assert event["args"]
            assert all(isinstance(value, int | float) and value >= 0 for value in event["args"].values())
            counters[event["pid"], event["name"]].append(nanoseconds(event["ts"]))
        else:
            assert event["dur"] >= 0
            start = nanoseconds(event["ts"])
            tracks[event["pid"], event["tid"]].append((start, start + nanoseconds(event["dur"])))
    for times in counters.values():
        assert times == sorted(times)
    for spans in tracks.values():
        open_ends: list[int] = []
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1], "partial overlap"
            open_ends.append(end)
    assert {pid for pid, _ in tracks} | {pid for pid, _ in counters} == named["process_name"]
    assert set(tracks) == named["thread_name"]
    assert sorted(one["id"] for one in arrows["s"]) == sorted(one["id"] for one in arrows["f"])
    for one in (*arrows["s"], *arrows["f"]):
        time = nanoseconds(one["ts"])
        inside = [(start, end) for start, end in tracks[one["pid"], one["tid"]] if start <= time <= end]
        assert inside, "an arrow without a slice"
        assert one["ph"] == "s" or any(start == time for start, _ in inside)
    return dict(document)


@pytest.mark.parametrize(
    "name", ["ncckpt4", "nonblocking4", "threads2", "broken_race_corruption", "serial1", "ckpt4_tsc"]
)
def test_real_archives_give_sound_documents(tmp_path, name):
    path = tmp_path / "x.perfetto.json"
    trace = open_trace(FIXTURES / name)
    write_perfetto(trace, path)
    document = check_document(path.read_text())
    assert document["otherData"]["start_s"] <= 0
    ticks = trace.definitions.clock.ticks_per_second
    # Operations begin where the trace says, to the nanosecond.
    begins = {round(int(begin) / ticks * 1e9) for begin in trace.layers["POSIX"].operations.begin}
    found = {nanoseconds(event["ts"]) for event in document["traceEvents"] if event["ph"] == "X"}
    assert begins <= found


def test_merged_operations_do_not_overlap_on_a_track(tmp_path):
    path = tmp_path / "x.perfetto.json"
    write_perfetto(open_trace(FIXTURES / "ior384"), path, most_slices=2000)
    check_document(path.read_text())


def test_regimes_that_overlap_are_cut_to_one_after_the_other(tmp_path, monkeypatch):
    trace = open_trace(FIXTURES / "ncckpt4")
    original = perfetto.layer_periods

    def overlapping(*arguments: Any, **options: Any) -> list[LayerPeriod]:
        regimes = (Regime(0.5, 4.0, 0.4, 0.9), Regime(3.5, 8.0, 0.2, 0.8))
        return [replace(one, result=replace(one.result, regimes=regimes)) for one in original(*arguments, **options)]

    monkeypatch.setattr(perfetto, "layer_periods", overlapping)
    path = tmp_path / "x.perfetto.json"
    write_perfetto(trace, path, layers="netCDF")
    document = check_document(path.read_text())
    shown = [event for event in document["traceEvents"] if event["ph"] == "X" and "confidence" in event["args"]]
    assert [event["args"]["confidence"] for event in shown] == [0.9, 0.8]
    assert shown[1]["ts"] == pytest.approx(4e6)


def test_a_partial_overlap_is_found():
    def slice_of(start: float, length: float) -> dict[str, Any]:
        return {"ph": "X", "name": "a", "cat": "io", "ts": start, "dur": length, "pid": 1, "tid": 1, "args": {}}

    names = [
        {"ph": "M", "name": f"{kind}_name", "pid": 1, "tid": 1, "args": {"name": "n"}} for kind in ("process", "thread")
    ]
    for second, sound in ((slice_of(2.0, 1.0), True), (slice_of(4.0, 2.0), True), (slice_of(3.0, 2.0), False)):
        events = [*names, slice_of(0.0, 4.0), second]
        text = json.dumps({"displayTimeUnit": "ms", "otherData": {}, "traceEvents": events})
        if sound:
            check_document(text)
        else:
            with pytest.raises(AssertionError, match="partial overlap"):
                check_document(text)


@given(st.integers(0, 2**53 // 1000))
def test_times_come_back_to_the_nanosecond(time):
    written = json.loads(json.dumps(perfetto._microseconds(time)))
    assert nanoseconds(written) == time
    assert abs(np.rint(written * 1000) - time) == 0
