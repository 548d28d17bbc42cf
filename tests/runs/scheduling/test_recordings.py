"""Jobs out of documents of periods, and documents that are broken."""

import copy
import json

import pytest
from iostrata import SelectionError, TraceError
from iostrata.runs.scheduling.recordings import is_periods_document, named_apart, read_periods, recorded_job


def entry(layer, direction, phases, period=10.0, volume=100.0):
    listed = [{"start_s": start, "end_s": end, "bytes": volume / len(phases)} for start, end in phases]
    return {"layer": layer, "direction": direction, "bytes": volume, "period_s": period, "phases": listed}


DOCUMENT = {
    "schema_version": 1,
    "trace": {"duration_s": 40.0, "nodes": 3},
    "layers": [
        entry("MPI-IO", "write", [(5, 6), (15, 16)], volume=500.0),
        entry("POSIX", "read", [(1, 2)], None, 10.0),
        entry("POSIX", "write", [(5, 7), (15, 18), (25, 26)]),
        {"layer": "ISOC", "direction": "write", "bytes": 1.0, "period_s": None, "phases": []},
    ],
}


def test_the_phases_of_the_lowest_layer_count():
    job = recorded_job("a", DOCUMENT)
    assert job.signal == "POSIX write"
    assert job.compute.tolist() == [5, 8, 7]
    assert job.work.tolist() == [2, 3, 1]
    assert (job.rest, job.period, job.nodes) == (14, 10, 3)


def test_other_layers_and_directions_can_be_chosen():
    assert recorded_job("a", DOCUMENT, "MPI-IO").work.tolist() == [1, 1]
    read = recorded_job("a", DOCUMENT, None, "read")
    assert (read.signal, read.period) == ("POSIX read", None)
    with pytest.raises(SelectionError, match="no phases of I/O in HDF5"):
        recorded_job("a", DOCUMENT, "HDF5")


def test_a_window_of_a_trace_begins_at_its_start():
    document = copy.deepcopy(DOCUMENT)
    document["trace"]["window_s"] = [4.0, 30.0]
    document["layers"] = document["layers"][2:3]
    job = recorded_job("a", document)
    assert job.compute.tolist() == [1, 8, 7]
    assert job.rest == 4


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("trace",), None),
        (("trace", "duration_s"), "long"),
        (("trace", "duration_s"), float("nan")),
        (("trace", "nodes"), 1e300),
        (("trace", "nodes"), [1]),
        (("trace", "window_s"), [1]),
        (("layers", 2, "bytes"), None),
        (("layers", 2, "period_s"), "soon"),
        (("layers", 2, "period_s"), 0.0),
        (("layers", 2, "period_s"), float("inf")),
        (("layers", 2, "phases"), [1, 2]),
        (("layers", 2, "phases"), 3),
        (("layers", 2, "phases"), "abc"),
        (("layers", 2, "phases", 0), {"start_s": 5}),
        (("layers", 2, "phases", 0, "end_s"), 4.0),
        (("layers", 2, "phases", 0, "end_s"), 16.0),
        (("layers", 2, "phases", 0, "start_s"), -1.0),
        (("layers", 2, "phases", 0, "start_s"), float("nan")),
        (("layers", 2, "phases", 2, "end_s"), float("inf")),
        (("layers", 2, "phases", 0, "start_s"), [1, 2]),
    ],
)
def test_a_document_that_makes_no_sense_is_refused(place, value):
    document = copy.deepcopy(DOCUMENT)
    here = document
    for key in place[:-1]:
        here = here[key]
    here[place[-1]] = value
    with pytest.raises(TraceError) as caught:
        recorded_job("a", document)
    assert "\n" not in str(caught.value)


def test_what_is_no_document(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(DOCUMENT))
    assert is_periods_document(path)
    assert read_periods(path) == DOCUMENT
    for text in ('{"schema_version": 1}', '{"schema_version": 1, "layers": 3}', '{"schema_version": ', "[" * 99_999):
        path.write_text(text)
        with pytest.raises(TraceError, match="periods --json"):
            read_periods(path)
    assert not is_periods_document(tmp_path)


def test_jobs_of_one_name_are_told_apart():
    jobs = [recorded_job(name, DOCUMENT) for name in ("a", "b", "a", "a")]
    assert [job.name for job in named_apart(jobs)] == ["a", "b", "a (2)", "a (3)"]


def test_phases_may_touch_and_one_node_is_enough():
    touching = [entry("POSIX", "write", [(0, 6), (6, 16)])]
    job = recorded_job("a", {"trace": {"duration_s": 16.0}, "layers": touching})
    assert (job.compute.tolist(), job.work.tolist(), job.rest, job.nodes) == ([0, 0], [6, 10], 0, 1)
