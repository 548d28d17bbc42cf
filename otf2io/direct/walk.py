"""The walk over an archive's event files as batches of rows, for one thread or several."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Rows, Unsigned, empty_columns
from ...model.definitions import Definitions
from ...model.events import EventColumns, IoEvents
from ...model.stream.calls import EventBatch, RegionColumns, RegionEvents
from ...model.stream.damage import LocationDamage
from ...model.stream.extents import EXTENT
from ..files.anchor import Anchor
from ..matching.implausible import LONGEST, credible_times, longest_within, offset_attributes
from .chunk import SKIP_LIMIT, SKIP_LIMIT_CALLS, SKIP_LIMIT_OPENS, SKIP_LIMIT_REGIONS, Rules
from .damage import location_damage, new_states
from .integers import PADDING
from .local_definitions import empty_local_ids
from .location import CURSOR, DONE, NEEDS_BYTES, NEEDS_IDS, NEEDS_ROWS, PAUSED, EventSource, Scratch, walk_locations

ROWS: Final = 1 << 16
"""Rows that are collected before they are handed on; more where one chunk needs more."""

_BYTES_PER_CALL: Final = 1 << 26
"""Bytes of event files after which the compiled walk comes back to report what it has done."""
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
    parameters : sequence of int
        Global ids of the parameters that are wanted among them.
    around : sequence of int
        Global ids of regions, where only what happens within these is wanted.
    """

    def __init__(
        self,
        anchor: Anchor,
        definitions: Definitions,
        regions: Sequence[int] = (),
        parameters: Sequence[int] = (),
        around: Sequence[int] = (),
    ) -> None:
        self._anchor = anchor
        self._definitions = definitions
        self._source = _source(anchor, definitions)
        self._rules = _rules(definitions, regions, parameters, around)
        self._states = new_states(self._source.promised)
        # Threads take memory from here and put it back; new memory for each call would cost more than a small file.
        self._memory: list[tuple[Scratch, Any]] = []

    def batches(
        self, first: int, last: int, rows: int = ROWS, done: Callable[[int], None] | None = None
    ) -> Iterator[EventBatch]:
        """Walk the locations in rows `first` to `last`, not included; several threads can walk different ones at once.

        Parameters
        ----------
        first, last : int
            Rows in ``Definitions.locations``.
        rows : int
            About how many rows a batch has, never fewer than the largest chunk needs room for.
        done : callable, optional
            Called with the number of promised events passed since its last call.

        Yields
        ------
        EventBatch
            Its columns hold only until the next one is asked for, or the end is reached.
        """
        try:
            scratch, columns = self._memory.pop()
        except IndexError:
            chunk = np.zeros(self._anchor.event_chunk + PADDING, np.uint8)
            scratch = Scratch(chunk, definitions=np.zeros(_IDS, np.uint8), ids=empty_local_ids(_IDS))
            columns = empty_columns(EventColumns, rows)
        if len(columns.time) < rows:
            columns = empty_columns(EventColumns, rows)
        regions = self._region_columns(rows)
        cursors = np.zeros(1, CURSOR)
        cursors["location"] = first
        before, reason = 0, PAUSED
        while reason != DONE:
            cursors["budget"] = _BYTES_PER_CALL
            reason = walk_locations(self._source, last, self._states, scratch, columns, regions, self._rules, cursors)
            location, row, region_row, need, _ = cursors[0].tolist()
            if done is not None:
                passed = self._passed(first, location, last)
                done(passed - before)
                before = passed
            if reason == NEEDS_BYTES:
                scratch = scratch._replace(definitions=np.zeros(need + PADDING, np.uint8))
            elif reason == NEEDS_IDS:
                scratch = scratch._replace(ids=empty_local_ids(need))
            elif row or region_row:
                found: Any = columns
                crossed: Any = regions
                yield EventBatch(
                    IoEvents(*(column[:row] for column in found)),
                    RegionEvents(*(column[:region_row] for column in crossed)),
                )
                cursors["row"] = cursors["region_row"] = 0
            elif reason == NEEDS_ROWS:
                columns, regions = empty_columns(EventColumns, need), self._region_columns(need)
        self._memory.append((scratch, columns))

    def _region_columns(self, rows: int) -> RegionEvents:
        return empty_columns(RegionColumns, rows if len(self._rules.regions) else 0)

    def _passed(self, first: int, location: int, last: int) -> int:
        passed = int(self._source.promised[first:location].sum())
        return passed + int(self._states["events"][location]) if location < last else passed

    def start_again(self, rows: Rows) -> None:
        """Forget what was read of the locations in `rows`."""
        self._states[rows] = new_states(self._source.promised[rows])

    @property
    def counts(self) -> Unsigned:
        """Number of all events read at each location so far, uint64 (locations,)."""
        return np.asarray(self._states["events"], np.uint64)

    @property
    def expected(self) -> Unsigned:
        """Number of events that each location should have, that of its file where it is sound, uint64 (locations,)."""
        return np.asarray(self._states["expected"], np.uint64)

    @property
    def extents(self) -> npt.NDArray[np.void]:
        """What is known of each location's files as `EXTENT`, (locations,)."""
        return self._states[list(EXTENT.names or ())]

    def damage(self, rows: Rows) -> tuple[LocationDamage, ...]:
        """Return which locations have lost something or are damaged; meaningful when all in `rows` have been walked."""
        return location_damage(self._anchor, self._definitions, self._states, rows)


def _source(anchor: Anchor, definitions: Definitions) -> EventSource:
    base, locations, starts = os.fsencode(anchor.base), len(definitions.locations.id), [0]
    paths = bytearray()
    for suffix in (b"evt", b"def"):
        for one in definitions.locations.id.tolist():
            paths += b"%s/%d.%s\0" % (base, one, suffix)
            starts.append(len(paths))
    start = np.array(starts, np.int64)
    return EventSource(
        identities=definitions.locations.id.astype(np.uint64),
        paths=np.frombuffer(bytes(paths) or b"\0", np.uint8),
        event_paths=start[:locations],
        definition_paths=start[locations:-1],
        promised=np.minimum(definitions.locations.events, np.uint64(LONGEST)).astype(np.int64),
        event_chunk=anchor.event_chunk,
        definition_chunk=anchor.definition_chunk,
        most_ids=_IDS_PER_DEFINITION * anchor.global_definitions + _IDS,
    )


def _rules(definitions: Definitions, regions: Sequence[int], parameters: Sequence[int], around: Sequence[int]) -> Rules:
    earliest, latest = credible_times(definitions.clock)
    skip_limit = SKIP_LIMIT_CALLS if len(parameters) else SKIP_LIMIT_REGIONS if len(regions) else SKIP_LIMIT
    return Rules(
        offsets=np.array(offset_attributes(definitions), np.uint64),
        start=np.uint64(definitions.clock.start % 2**64),
        earliest=np.int64(earliest),
        span=np.uint64(latest - earliest),
        longest=np.uint64(longest_within(definitions.clock)),
        handles=np.sort(definitions.handles.id),
        regions=np.unique(np.array(regions, np.uint32)),
        parameters=np.unique(np.array(parameters, np.uint32)),
        around=np.unique(np.array(around, np.uint32)),
        skip_limit=skip_limit,
        skip_outside=SKIP_LIMIT_OPENS if len(around) else skip_limit,
    )
