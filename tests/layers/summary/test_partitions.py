"""However a trace is cut into partitions and blocks, all that is told of it is the same to the last bit."""

import json
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata.analysis.comparison.layer_periods import layer_periods, part_periods
from iostrata.analysis.findings import find
from iostrata.export.report.panels.limits import Limits
from iostrata.export.report.panels.volumes import heat_maps
from iostrata.export.timeline import marks
from iostrata.inputs.source import RowSource
from iostrata.layers import opening
from iostrata.layers.attribution import stream
from iostrata.layers.attribution.callers import called_blocks
from iostrata.layers.document import document
from iostrata.layers.handles import sums
from iostrata.layers.summary import memory
from iostrata.model.codes import CREATE_FILE, UNDEFINED_UINT64, IoFlag, IoMode, IoRecord
from iostrata.model.definitions import Definitions, LocationGroups, Locations
from iostrata.model.keyed import KeyedSums
from iostrata.model.stream.source import Partition

MEMORY = 400 << 20
LARGEST = 4
"""Operations that may be in flight at once: blocks are at least twice as large, so that they end at rest."""
OF_SIGNALS = ("document", "signals", "periods", "findings")
"""What bins make coarser."""
ROUNDED = ("metadata", "marks")
HANDLES = [
    ("HDF5", "/scratch/a", -1),
    ("HDF5", "/scratch/b", -1),
    ("MPI-IO", "/scratch/a", 0),
    ("MPI-IO", "/scratch/b", 1),
    ("POSIX", "/scratch/a", 2),
    ("POSIX", "/scratch/b", 3),
    ("POSIX", "/home/c", -1),
]
ALONE = 6
"""The handle that has none above it."""

EVENTS = [None, IoRecord.CREATE_HANDLE, IoRecord.DESTROY_HANDLE, IoRecord.SEEK, IoRecord.TRY_LOCK]

calls = st.lists(
    st.fixed_dictionaries(
        {
            # Behind a long pause bins become wider.
            "gap": st.sampled_from([1, 2, 40, 997, 2_100_003]),
            "length": st.sampled_from([0, 9, 64, 5000]),
            # Those of one layer are chosen the more often the more they come back across a cut.
            "handle": st.sampled_from([0, 0, 1, 2, 2, 3, 4, 4, 5, ALONE]),
            "mode": st.sampled_from([IoMode.READ, IoMode.WRITE, IoMode.WRITE, IoMode.FLUSH]),
            "moved": st.sampled_from([0, 1, 4096, 65536, 3 * 2**20 + 1, None]),
            "pieces": st.integers(0, LARGEST - 1),
            # None goes on where the call before on the handle ended, and -1 where it began.
            "offset": st.sampled_from([None, None, None, -1, -1, 0, 65536, 2**20 + 7, UNDEFINED_UINT64]),
            "times": st.sampled_from([1, 1, 1, 2, 6]),
            "back": st.sampled_from([False, False, True]),
            "flags": st.sampled_from([0, 0, int(IoFlag.NON_BLOCKING), int(IoFlag.COLLECTIVE)]),
            "event": st.sampled_from(EVENTS),
        }
    ),
    max_size=9,
)


@dataclass(frozen=True, eq=False)
class Dealt:
    """A source in memory whose partitions are given."""

    inner: Any
    parts: tuple[tuple[tuple[int, ...], int | None], ...]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def partitions(self, _memory: int | None, _workers: int | None) -> tuple[Partition, ...]:
        return tuple(
            Partition(number, locations, 1 + len(locations), most)
            for number, (locations, most) in enumerate(self.parts)
        )


def repeated(given_calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls as often as they are made, each with its file, and the reads of what they wrote."""
    made = []
    for call in given_calls:
        once = {**call, "file": HANDLES[call["handle"]][1]}
        made += [once] * call["times"]
        if call["back"]:
            made += [{**once, "mode": IoMode.READ, "offset": -1}] * (LARGEST + 1)
    return made


def rows_of(process: int, given_calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls one after the other, those of MPI-IO with some of POSIX inside, and nothing in flight between them."""
    rows, time = [], process
    reached: dict[int, tuple[int, int]] = {}
    for call in repeated(given_calls):
        time += call["gap"]
        first, last = reached.get(call["file"], (0, 0))
        if call["offset"] in (None, -1):
            call = {**call, "offset": last if call["offset"] is None else first}
        begin = call["offset"] % 2**30
        reached[call["file"]] = begin, begin + (call["moved"] or 0)
        one = {name: call[name] for name in ("mode", "offset", "flags")}
        one |= {"process": process, "begin": time, "end": time + call["length"]}
        moved = None if call["mode"] == IoMode.FLUSH else call["moved"]
        rows.append({**one, "handle": call["handle"], "moved": moved, "requested": moved})
        below = call["handle"] + 2
        pieces = call["pieces"] if below < ALONE and call["length"] > 2 * LARGEST else 0
        for piece in range(pieces):
            begin = time + 1 + piece * 2
            rows.append({**one, "handle": below, "begin": begin, "end": begin + 1, "moved": moved and moved // pieces})
        time += call["length"]
    return rows


def events_of(process: int, given_calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Metadata events of the handles of some calls, each just before its call begins."""
    events, time = [], process
    for call in repeated(given_calls):
        if call["event"] is not None:
            made = CREATE_FILE if call["event"] == IoRecord.CREATE_HANDLE and call["length"] == 9 else 0
            one = {"location": process, "kind": call["event"], "time": time + call["gap"] - 1}
            events.append({**one, "handle": 10 + call["handle"], "value": made})
        time += call["gap"] + call["length"]
    return events


def with_processes(definitions: Definitions, count: int) -> Definitions:
    one, rows = np.ones(count, np.uint8), np.arange(count, dtype=np.int32)
    names = tuple(f"rank {row}" for row in range(count))
    groups = LocationGroups(rows.astype(np.uint32), names, one, one.astype(np.int32), rows)
    locations = Locations(rows.astype(np.uint64), names, one, np.zeros(count, np.uint64), rows)
    return replace(definitions, groups=groups, locations=locations)


class Folding:
    """In place of a cluster: every partition is summed up by itself, and results are merged as they lie."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def reduce(self, function: Any, merge: Any, partitions: Any, *_: Any) -> Any:
        parts = [function([one]) for one in partitions]
        while len(parts) > 1:
            pairs = [parts[first : first + 2] for first in range(0, len(parts), 2)]
            parts = [merge(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return parts[0]


def marks_told(trace: Any) -> list[Any]:
    """A timeline's marks, each with its own file and process; those that begin together are one."""
    found, key_of_row, process_of_row, _, gap = marks.marks_of_files(trace, trace.order)
    keys = [found.kind, found.start, key_of_row[found.row], process_of_row[found.row]]
    together = KeyedSums(keys, {"count": found.count, "bytes": found.bytes, "end": found.end})
    return [gap, *(column.tolist() for column in (*together.keys, *together.values.values()))]


def operations_told(trace: Any) -> list[Any]:
    """Each operation by its process and begin, which no other has, with its parent and those it makes a call with."""
    told: list[Any] = []
    names: list[tuple[int, int]] = []
    for traffic, call, _, first in called_blocks(trace.calls, False):
        operations = traffic.operations
        assert first == len(names)
        names += zip(operations.process.tolist(), operations.begin.tolist(), strict=True)
        parents = [None if one < 0 else names[first + one] for one in traffic.attribution.parent.tolist()]
        told += zip(names[first:], parents, call.tolist(), strict=True)
    together: dict[int, list[tuple[int, int]]] = {}
    for name, _, call in told:
        together.setdefault(call, []).append(name)
    return sorted((name, parent, None if call < 0 else min(together[call])) for name, parent, call in told)


def cells_told(trace: Any) -> list[Any]:
    """Each kind of operation, named by itself and those above it, with its sums."""
    rows = list(zip(*(column.tolist() for column in trace.relations.cells.columns), strict=True))

    def chain(row: int) -> list[Any]:
        return [] if row < 0 else [rows[row][1:4], *chain(rows[row][0])]

    return sorted((chain(number), row[4:]) for number, row in enumerate(rows))


def evidence_told(relations: Any) -> list[Any]:
    """What findings look at beyond flows, cells and calls."""
    tables = [table for key in sorted(relations.streams) for table in vars(relations.streams[key]).values()]
    return [
        [(key, relations.requests[key].quantiles()) for key in sorted(relations.requests)],
        [(key, relations.read_back[key].bytes) for key in sorted(relations.read_back)],
        [
            [column.tolist() for column in (*table.keys, *table.values.values())]
            for table in tables
            if isinstance(table, KeyedSums)
        ],
    ]


def told(
    source: Any,
    workers: int = 1,
    apart: bool = False,
    few: bool = False,
    full: bool = False,
    start: float | None = None,
) -> dict[str, str]:
    """Everything that is told of a trace, as texts.

    With `apart` partitions share no sums, as on a cluster. With `few` so little is kept that times are rounded. With
    `full` all operations are kept. With a `start` in s only what is behind it counts.
    """
    limits = Limits(heat_rows=3, heat_bins=5)
    window = (start, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "open_timed_source", lambda *_: source)
        patch.setattr(stream, "cluster_of", lambda *_: nullcontext(Folding(workers)))
        # As many however many threads share the memory.
        patch.setattr(memory, "MOST_BINS", 1 << 12)
        if few:
            patch.setattr(sums, "_MOST_TIMES", 6)
            patch.setattr(marks, "_MOST_MARKS", 12)
        if full:
            trace = opening.open_trace("x", files="all", window=window)
        else:
            trace = opening.open_trace(
                "x",
                memory=MEMORY,
                workers=workers,
                files="all",
                purpose=opening.Purpose(parts=("rank", 3)),
                client="folding" if apart else None,
                window=window,
            )
        layers = trace.layers.values()
        binned = None if full else trace.sums.parts("rank")
        periods = [*layer_periods(layers), *part_periods(layers, "rank", 3, binned=binned)]
        found = {
            "document": document(trace),
            "set aside": trace.set_aside.to_dict(),
            "statistics": [
                layer.statistics(way, kind).to_dict()
                for layer in layers
                for way in ("read", "write", "total")
                for kind in ("all", "own", "inherited")
            ],
            "flushes": [(layer.flushes, layer.flush_busy_s) for layer in layers],
            "signals": [
                [column.tolist() for column in (one.times, one.values, one.cumulative)]
                for layer in layers
                for way in ("read", "write", "total")
                for one in (layer.bandwidth(way), layer.bandwidth(way, "own"), layer.bandwidth(way, below="MPI-IO"))
            ],
            "breakdowns": [trace.breakdown(by).to_dict() for by in ("file", "rank", "handle")],
            "flows": [flow.to_dict() for flow in trace.flows],
            "balances": [repr(one) for one in (*trace.relations.balances, *trace.relations.time_splits)],
            "hidden": [repr(one) for one in trace.relations.hidden],
            "cells": cells_told(trace),
            "evidence": evidence_told(trace.relations.sums),
            "findings": [one.to_dict() for one in find(trace)],
            "periods": [
                (one.result.to_dict(), one.signal.to_dict()) if hasattr(one, "result") else one.volumes
                for one in periods
            ],
            "parts": [
                sorted(
                    (key, float(volume))
                    for key, volume in (
                        binned.volumes(layer.categories(way, "all"))
                        if binned is not None
                        else layer.by("rank").volumes("bandwidth", way, "all")
                    ).items()
                    if volume
                )
                for layer in layers
                for way in ("read", "write")
            ],
            "handles": {
                name: np.asarray(getattr(trace.handles, name)).tolist()
                for name in ("operations", "bytes_read", "bytes_written", "metadata_events", "ranks")
            },
            "lifetimes": {name: counts.tolist() for name, counts in trace.handles.lifetime_counts.items()},
            "metadata": [
                ([times.tolist() for times in trace.sums.handles.times(row)], trace.sums.handles.kinds_of(row))
                for row in range(len(trace.order))
            ],
            "operations": operations_told(trace),
            "opens": [column.tolist() for column in trace.sums.handles.opens.keys],
            "marks": marks_told(trace),
            "non-blocking": [column.tolist() for column in trace.calls.non_blocking.covered()],
            "heat maps": heat_maps(trace, [(one.name, way) for one in layers for way in one.directions], limits),
        }
    return {name: json.dumps(one, default=str) for name, one in found.items()}


@settings(max_examples=12, deadline=None)
@given(processes=st.lists(calls, min_size=1, max_size=7).filter(any), data=st.data())
def test_partitions_and_cuts_change_nothing(
    processes: Any, data: Any, make_definitions: Any, make_operations: Any, make_events: Any
) -> None:
    rows = [row for process, some in enumerate(processes) for row in rows_of(process, some)]
    operations = make_operations(rows)
    rows = sorted(rows, key=lambda row: row["begin"])
    given_columns = {
        "flags": np.array([row["flags"] for row in rows], np.uint32),
        "offset": np.array([row["offset"] for row in rows], np.uint64),
    }
    events = make_events([one for process, some in enumerate(processes) for one in events_of(process, some)])
    definitions = with_processes(
        make_definitions(HANDLES, precreated=(ALONE,), length=20000, ticks_per_second=10**6), len(processes)
    )
    inner = RowSource(Path("x"), definitions, replace(operations, **given_columns), events)
    everyone = tuple(range(len(processes)))
    few = data.draw(st.booleans())
    everything = Dealt(inner, ((everyone, None),))
    start = data.draw(st.sampled_from([None, None, 60e-6, 2e-3]))
    whole = told(everything, few=few, start=start)
    # Where operations are kept, nothing is merged, and what a window cuts is not rounded to 2^-32 byte.
    full = told(everything, full=True, start=start)
    coarser = {*OF_SIGNALS, *(ROUNDED if few else ()), *(("parts",) if start else ())}
    assert {name for name in whole if full[name] != whole[name]} <= coarser
    order = data.draw(st.permutations(everyone))
    edges = sorted(data.draw(st.lists(st.integers(0, len(order)), max_size=4)))
    parts = [order[low:high] for low, high in zip([0, *edges], [*edges, len(order)], strict=True) if low < high]
    cut = st.sampled_from([None, 2 * LARGEST, 2 * LARGEST, 13])
    dealt = tuple((tuple(sorted(part)), data.draw(cut)) for part in parts)
    parted = told(
        Dealt(inner, dealt),
        *data.draw(st.sampled_from([(1, False), (3, False), (2, True), (2, True)])),
        few,
        start=start,
    )
    assert {name for name in whole if parted[name] != whole[name]} == set()
