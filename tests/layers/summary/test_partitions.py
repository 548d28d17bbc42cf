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
from iostrata.analysis.findings.find import find
from iostrata.inputs.source import RowSource
from iostrata.layers import opening
from iostrata.layers.document import document
from iostrata.layers.summary import reading
from iostrata.model.codes import IoMode
from iostrata.model.definitions import Definitions, LocationGroups, Locations
from iostrata.model.events import IoEvents
from iostrata.model.stream.source import Partition

MEMORY = 400 << 20
LARGEST = 4
"""Operations that may be in flight at once: blocks are at least twice as large, so that they end at rest."""
HANDLES = [
    ("MPI-IO", "/scratch/a", -1),
    ("MPI-IO", "/scratch/b", -1),
    ("POSIX", "/scratch/a", 0),
    ("POSIX", "/scratch/b", 1),
    ("POSIX", "/home/c", -1),
]

calls = st.lists(
    st.fixed_dictionaries(
        {
            "gap": st.sampled_from([1, 2, 40, 997]),
            "length": st.sampled_from([0, 9, 64, 5000]),
            "handle": st.integers(0, 4),
            "mode": st.sampled_from([IoMode.READ, IoMode.WRITE, IoMode.WRITE, IoMode.FLUSH]),
            "moved": st.sampled_from([0, 1, 4096, 65536, 3 * 2**20 + 1, None]),
            "pieces": st.integers(0, LARGEST - 1),
        }
    ),
    max_size=12,
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


def rows_of(process: int, given_calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls one after the other, those of MPI-IO with some of POSIX inside, and nothing in flight between them."""
    rows, time = [], process
    for call in given_calls:
        time += call["gap"]
        one = {"process": process, "mode": call["mode"], "begin": time, "end": time + call["length"]}
        moved = None if call["mode"] == IoMode.FLUSH else call["moved"]
        rows.append({**one, "handle": call["handle"], "moved": moved, "requested": moved})
        below = call["handle"] + 2
        pieces = call["pieces"] if below < 4 and call["length"] > 2 * LARGEST else 0
        for piece in range(pieces):
            begin = time + 1 + piece * 2
            rows.append({**one, "handle": below, "begin": begin, "end": begin + 1, "moved": moved and moved // pieces})
        time += call["length"]
    return rows


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


def told(source: Any, workers: int, apart: bool = False) -> str:
    """Everything that is told of a trace, as text; `apart`: partitions share no sums, as on a cluster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "open_timed_source", lambda *_: source)
        patch.setattr(reading, "cluster_of", lambda *_: nullcontext(Folding(workers)))
        trace = opening.read_binned_trace(
            "x", MEMORY, workers=workers, files="all", parts=("rank", 3), client="folding" if apart else None
        )
        layers = trace.layers.values()
        periods = [*layer_periods(layers), *part_periods(layers, "rank", 3, binned=trace.binned_parts("rank"))]
        found: list[Any] = [
            document(trace),
            trace.set_aside.to_dict(),
            [
                layer.statistics(way, kind).to_dict()
                for layer in layers
                for way in ("read", "write", "total")
                for kind in ("all", "own", "inherited")
            ],
            [(layer.flushes, layer.flush_busy_s) for layer in layers],
            [trace.breakdown(by).to_dict() for by in ("file", "rank", "handle")],
            [flow.to_dict() for flow in trace.flows],
            [repr(one) for one in (*trace.balances, *trace.time_splits, *trace.hidden)],
            [one.to_dict() for one in find(trace)],
            [
                (one.result.to_dict(), one.signal.to_dict()) if hasattr(one, "result") else one.volumes
                for one in periods
            ],
            {
                name: np.asarray(getattr(trace.handles, name)).tolist()
                for name in ("operations", "bytes_read", "bytes_written", "metadata_events", "ranks")
            },
        ]
    return json.dumps(found, default=str)


@settings(max_examples=20, deadline=None)
@given(processes=st.lists(calls, min_size=1, max_size=7).filter(any), data=st.data())
def test_partitions_and_cuts_change_nothing(
    processes: Any, data: Any, make_definitions: Any, make_operations: Any
) -> None:
    rows = [row for process, some in enumerate(processes) for row in rows_of(process, some)]
    operations = make_operations(rows)
    collective = np.isin(operations.handle, [0, 1]).astype(np.uint32) * 2
    definitions = with_processes(make_definitions(HANDLES, length=20000, ticks_per_second=10**6), len(processes))
    inner = RowSource(Path("x"), definitions, replace(operations, flags=collective), IoEvents.empty())
    everyone = tuple(range(len(processes)))
    whole = told(Dealt(inner, ((everyone, None),)), 1)
    order = data.draw(st.permutations(everyone))
    edges = sorted(data.draw(st.lists(st.integers(0, len(order)), max_size=4)))
    parts = [order[low:high] for low, high in zip([0, *edges], [*edges, len(order)], strict=True) if low < high]
    cut = st.sampled_from([None, 2 * LARGEST, 13, 30])
    dealt = tuple((tuple(sorted(part)), data.draw(cut)) for part in parts)
    assert told(Dealt(inner, dealt), *data.draw(st.sampled_from([(1, False), (3, False), (2, True)]))) == whole
