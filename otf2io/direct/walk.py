"""The walk over an archive's event files as batches of rows, for one thread or several."""

import itertools
import os
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import empty_columns
from ...model.definitions import Definitions
from ...model.events import EventColumns, IoEvents
from ...model.stream.calls import EventBatch, RegionEvents
from ...model.stream.damage import LocationDamage
from ..files.anchor import Anchor
from ..matching.implausible import LONGEST, SLACK_SECONDS
from .chunk import SKIP_LIMIT, SKIP_LIMIT_REGIONS, RegionColumns, Rules
from .integers import PADDING
from .local_definitions import empty_local_ids
from .location import DONE, NEEDS_BYTES, NEEDS_IDS, NEEDS_ROWS, PAUSED, Scratch, Source, walk_locations
from .state import EVENTS, EXPECTED, location_damage, new_states

ROWS: Final = 1 << 16
"""Rows that are collected before they are handed on; more where one chunk needs more."""

_OFFSET_ATTRIBUTE: Final = "Offset"

_BYTES_PER_CALL: Final = 1 << 26
_LARGEST_BATCH: Final = 1 << 20
_IDS: Final = 1 << 14

_IDS_PER_DEFINITION: Final = 4
"""Local ids that may stand for one global definition; a file with more is damaged."""


class DirectWalk:
    """An archive's event files; `start_again` comes before a location is walked once more.

    Parameters
    ----------
    anchor : Anchor
        Of an archive that `iostrata.otf2io.archive.direct_obstacle` has nothing against.
    regions : sequence of int
        Global ids of the regions whose Enter and Leave are wanted.
    """

    def __init__(self, anchor: Anchor, definitions: Definitions, regions: Sequence[int] = ()) -> None:
        self._anchor = anchor
        self._definitions = definitions
        self._regions = tuple(sorted(set(regions)))
        self._source = _source(anchor, definitions)
        self._rules = _rules(definitions, bool(self._regions))
        self._states = new_states(self._source.promised)
        # Threads take memory from here and put it back; new memory for each call would cost more than a small file.
        self._memory: list[tuple[Scratch, EventColumns]] = []

    def batches(
        self,
        first: int,
        last: int,
        rows: int = ROWS,
        keep: bool = False,
        columns: EventColumns | None = None,
        done: Callable[[int], None] | None = None,
        budget: int = _BYTES_PER_CALL,
    ) -> Generator[EventBatch, None, None]:
        """Walk the locations in rows `first` to `last`, not included; several threads can walk different ones at once.

        Parameters
        ----------
        first, last : int
            Rows in ``Definitions.locations``.
        rows : int
            About how many rows a batch has, never fewer than the largest chunk needs room for.
        keep : bool
            Whether each batch has memory of its own; the batches then become larger, for fewer pieces. Otherwise the
            columns of a batch hold only until the next one is asked for, or the end is reached.
        columns : EventColumns, optional
            Memory for the first batch, in place of `rows`.
        done : callable, optional
            Called with the number of promised events passed since its last call.
        budget : int
            Bytes of event files after which the compiled walk comes back to report what it has done.

        Yields
        ------
        EventBatch
        """
        try:
            scratch, spare = self._memory.pop()
        except IndexError:
            scratch, spare = _new_scratch(self._anchor), empty_columns(EventColumns, 0)
        if columns is None:
            columns = spare if len(spare.time) >= rows and not keep else empty_columns(EventColumns, rows)
        regions = _region_columns(self._regions, rows if self._regions else 0)
        row = region_row = 0
        location = first
        before = 0
        reason = PAUSED
        while reason != DONE:
            stop = walk_locations(
                self._source, location, last, self._states, scratch, columns, regions, self._rules, row, region_row,
                budget,
            )  # fmt: skip
            reason, location, row, region_row, need = stop
            if done is not None:
                passed = self._passed(first, location, last)
                done(passed - before)
                before = passed
            if reason == NEEDS_BYTES:
                scratch = scratch._replace(definitions=np.zeros(need + PADDING, np.uint8))
            elif reason == NEEDS_IDS:
                scratch = scratch._replace(ids=empty_local_ids(need))
            elif (row or region_row) and (reason != PAUSED or not keep):
                found: Any = (column[:row] for column in columns)
                yield EventBatch(IoEvents(*found), _region_events(regions, region_row))
                row = region_row = 0
                if keep and reason != DONE:
                    rows = min(2 * rows, _LARGEST_BATCH)
                    columns = empty_columns(EventColumns, rows)
                    regions = _region_columns(self._regions, rows if self._regions else 0)
            elif reason == NEEDS_ROWS:
                rows = need
                columns = empty_columns(EventColumns, rows)
                regions = _region_columns(self._regions, rows if self._regions else 0)
        self._memory.append((scratch, empty_columns(EventColumns, 0) if keep else columns))

    def _passed(self, first: int, location: int, last: int) -> int:
        passed = int(self._source.promised[first:location].sum())
        return passed + int(self._states[location, EVENTS]) if location < last else passed

    def start_again(self, rows: npt.NDArray[np.intp]) -> None:
        """Forget what was read of the locations in `rows`."""
        self._states[rows] = new_states(self._source.promised[rows])

    @property
    def counts(self) -> npt.NDArray[np.uint64]:
        """Number of all events read at each location so far, uint64 (locations,)."""
        return self._states[:, EVENTS].astype(np.uint64)

    @property
    def expected(self) -> npt.NDArray[np.uint64]:
        """Number of events that each location should have, that of its file where it is sound, uint64 (locations,)."""
        return self._states[:, EXPECTED].astype(np.uint64)

    def damage(self, rows: npt.NDArray[np.intp]) -> tuple[LocationDamage, ...]:
        """Return which locations have lost something or are damaged; meaningful when all in `rows` have been walked."""
        return location_damage(self._anchor, self._definitions, self._states, rows)


def _new_scratch(anchor: Anchor) -> Scratch:
    return Scratch(
        events=np.zeros(anchor.event_chunk + PADDING, np.uint8),
        definitions=np.zeros(_IDS, np.uint8),
        ids=empty_local_ids(_IDS),
    )


def _source(anchor: Anchor, definitions: Definitions) -> Source:
    base = os.fsencode(anchor.base)
    names = [b"%s/%d.%s\0" % (base, location, suffix) for suffix in (b"evt", b"def")
             for location in definitions.locations.id.tolist()]  # fmt: skip
    starts = np.fromiter(itertools.accumulate((len(name) for name in names), initial=0), np.int64, len(names) + 1)
    count = len(names) // 2
    return Source(
        paths=np.frombuffer(b"".join(names) or b"\0", np.uint8),
        event_paths=starts[:count],
        definition_paths=starts[count:-1],
        promised=np.minimum(definitions.locations.events, np.uint64(LONGEST)).astype(np.int64),
        event_chunk=anchor.event_chunk,
        definition_chunk=anchor.definition_chunk,
        most_ids=_IDS_PER_DEFINITION * anchor.global_definitions + _IDS,
    )


def _rules(definitions: Definitions, with_regions: bool) -> Rules:
    clock = definitions.clock
    slack = min(clock.length + SLACK_SECONDS * clock.ticks_per_second, LONGEST)
    offsets = sorted(identity for identity, name in definitions.attributes.items() if name == _OFFSET_ATTRIBUTE)
    return Rules(
        offsets=np.array(offsets, np.uint64),
        start=np.uint64(clock.start % 2**64),
        earliest=np.int64(-slack),
        span=np.uint64(2 * slack + min(clock.length, LONGEST)),
        longest=np.uint64(min(2 * clock.length + SLACK_SECONDS * clock.ticks_per_second, LONGEST)),
        handles=np.sort(definitions.handles.id),
        skip_limit=SKIP_LIMIT_REGIONS if with_regions else SKIP_LIMIT,
    )


def _region_columns(selected: Sequence[int], rows: int) -> RegionColumns:
    return RegionColumns(
        selected=np.array(selected, np.uint32),
        location=np.empty(rows, np.int32),
        time=np.empty(rows, np.int64),
        region=np.empty(rows, np.uint32),
        enter=np.empty(rows, np.bool_),
        position=np.empty(rows, np.int64),
    )


def _region_events(columns: RegionColumns, rows: int) -> RegionEvents:
    found: Any = (column[:rows] for column in columns[1:])
    return RegionEvents(*found)
