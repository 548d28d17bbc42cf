"""Events that cannot be true are left out, counted and told of, by both engines and when streamed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import iostrata
import numpy as np
import pytest
from iostrata.model.codes import MOST_BYTES, UNDEFINED_UINT64
from iostrata.model.events import IoEvents
from iostrata.model.stream.calls import FILE_IO, EventBatch, RegionEvents
from iostrata.otf2io.archive import open_archive
from iostrata.otf2io.matching.implausible import ImplausibleEvents

from ..reading import read_events

SECOND = 10**9
LENGTH = 3 * SECOND
Write = Callable[..., Path]


def transfers(times: list[int]) -> list[Any]:
    """Writes of 8 bytes, one at each time, a tick long."""
    events: list[Any] = []
    for time in times:
        events.append(("IoOperationBegin", time, (1, 1, 0, 8, 7), ()))
        events.append(("IoOperationComplete", time + 1, (1, 8, 7), ()))
    return events


@pytest.mark.parametrize("far", [3601 * SECOND + LENGTH, 2**55, 2**62 + 5])
def test_far_events_are_left_out_and_counted(far: int, written_archive: Write, new_location: Any, collect: Any) -> None:
    sound, lost = new_location(transfers([5, SECOND, LENGTH])), new_location(transfers([far, far + 9]))
    archive = open_archive(written_archive([sound, lost], length=LENGTH))
    read = collect(archive)
    for engine in ("direct", "library"):
        found = read_events(archive, engine)
        assert found.events.time.max() <= LENGTH + 1
        assert len(found.events) == 6
        assert found.counts.tolist() == [6, 4]
        assert [one.location for one in found.damage.locations] == [1]
        assert "4 of its I/O events claim to be more than an hour outside" in found.damage.locations[0].reason
        assert read.damage == found.damage
    assert read.operations.begin.tolist() == [5, SECOND, LENGTH]
    assert read.tally.io_events == 6


def test_an_hour_is_read_and_told(written_archive: Write, new_location: Any) -> None:
    archive = open_archive(written_archive([new_location(transfers([0, LENGTH + 3599 * SECOND]))], length=LENGTH))
    found = read_events(archive, "direct")
    assert len(found.events) == 4
    (told,) = found.damage.locations
    assert (told.events_read, told.events_expected) == (4, 4)
    assert "its events end 3599 s after the trace: its clock is off" in told.reason.replace(",", "")


def test_a_trace_without_a_length_has_no_far_events(written_archive: Write, new_location: Any) -> None:
    archive = open_archive(written_archive([new_location(transfers([0, 2**50]))], length=2**64 - 1))
    found = read_events(archive, "direct")
    assert np.array_equal(found.events.time, [0, 1, 2**50, 2**50 + 1])


@pytest.mark.parametrize("asked", [MOST_BYTES + 1, 2**63, UNDEFINED_UINT64 - 1])
def test_events_of_too_many_bytes_are_left_out_and_counted(
    asked: int, written_archive: Write, new_location: Any, collect: Any
) -> None:
    events = transfers([5, 50])
    for handle, (request, result) in enumerate(((asked, 8), (8, asked), (MOST_BYTES, MOST_BYTES)), 2):
        events.append(("IoOperationBegin", 100 * handle, (handle, 1, 0, request, 7), ()))
        events.append(("IoOperationComplete", 100 * handle + 1, (handle, result, 7), ()))
    undefined = UNDEFINED_UINT64
    events.append(("IoSeek", SECOND, (1, undefined - 5, 1, asked), ()))
    events.append(("IoOperationBegin", SECOND, (1, 1, 0, undefined, 7), ()))
    events.append(("IoOperationComplete", SECOND + 1, (1, undefined, 7), ()))
    archive = open_archive(written_archive([new_location(events), new_location(transfers([5]))], length=LENGTH))
    read = collect(archive)
    for engine in ("direct", "library"):
        found = read_events(archive, engine)
        assert len(found.events) == len(events) - 2 + 2
        assert [one.location for one in found.damage.locations] == [0]
        assert (
            found.damage.locations[0].reason
            == "2 of its I/O events claim more than 281474976710656 bytes and are ignored"
        )
        assert read.damage == found.damage


@pytest.mark.parametrize("engine", ["direct", "library"])
def test_what_clock_correction_moves_far_out_is_left_out_whenever_the_trace_is_read(
    engine: Any, made: Any, tmp_path: Path
) -> None:
    """Rows of a table and what functions did need the events once more, and are to find the same."""
    parquet = pytest.importorskip("pyarrow.parquet")
    contents = made.base()
    first = min(contents.local)
    later = contents.local[first][1]
    assert later.kind == made.records.CLOCK_OFFSET
    # A clock that falls behind by 20,000 s in the 20 s of the trace; the others are as they were.
    contents = replace(
        contents,
        local={**contents.local, first: [*contents.local[first]]},
        definitions=[
            one.with_value(8, FILE_IO) if one.kind == made.records.REGION else one for one in contents.definitions
        ],
    )
    contents.local[first][1] = later.with_value(1, 20_000 * SECOND)
    made.records.write(contents, tmp_path / "archive")
    trace = iostrata.open_trace(tmp_path / "archive", engine=engine, files="all")
    (damage,) = trace.damage.locations
    assert damage.location == first
    assert "of its I/O events claim to be more than an hour outside" in damage.reason
    operations = sum(layer.statistics("total").operations for layer in trace.layers.values())
    for by in ("function", "caller"):
        columns = trace.breakdown(by).columns
        assert sum(int(columns[name].sum()) for name in ("reads", "writes")) == operations
    iostrata.write_parquet(trace, tmp_path / "x.parquet")
    kinds = parquet.read_table(tmp_path / "x.parquet")["kind"].to_pylist()
    assert sum(kind in ("read", "write") for kind in kinds) == operations


def test_a_call_at_a_time_that_cannot_be_is_where_the_event_before_is(
    written_archive: Write, new_location: Any
) -> None:
    definitions = open_archive(
        written_archive([new_location(transfers([5])), new_location([])], length=LENGTH)
    ).definitions
    implausible = ImplausibleEvents(definitions)
    far, columns = 3700 * SECOND + LENGTH, (("location", np.int32), ("time", np.int64), ("region", np.uint32))
    rows = [(0, 10, 1), (0, far, 2), (0, far, 1), (0, 30, 2), (1, far, 1), (1, 40, 1), (1, far, 9)]
    told = {name: np.array(values, kind) for (name, kind), values in zip(columns, zip(*rows, strict=True), strict=True)}
    # The last is a parameter, whose value stands in place of a time.
    position = np.array([0] * 6 + [-1])
    batch = EventBatch(IoEvents.empty(), RegionEvents(**told, enter=np.ones(7, np.bool_), position=position))
    found = implausible.leave_out(batch).regions.time.tolist()
    assert found == [10, 10, 10, 30, 3600 * SECOND + LENGTH, 40, far]
    assert implausible.crossings == 3
    counts = np.ones(2, np.uint64)
    reasons = [one.reason for one in implausible.damage((), counts, counts)]
    assert [reason.split(" claim")[0] for reason in reasons] == ["2 of its Enter and Leave", "1 of its Enter and Leave"]
