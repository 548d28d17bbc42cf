"""Operations that a recorder calls collective and that are not: those with a shared file pointer."""

import re
from dataclasses import replace
from typing import Final

import numpy as np

from ...model.arrays import Codes
from ...model.codes import IoFlag, IoRecord
from ...model.stream.calls import EventBatch, Regions

_SHARED_POINTER: Final = re.compile(r"MPI_File_i?(read|write)_shared")
"""Ranks need not call these together (MPI 4.1, §14.4.4): only those that end in ``_ordered`` are collective, but
Score-P 8.4 gives both the flag."""


def shared_pointer_calls(regions: Regions) -> Codes:
    """Return the ids of regions that are transfers with a shared file pointer."""
    named = [_SHARED_POINTER.fullmatch(name) is not None for name in regions.name]
    return regions.id[np.array(named, np.bool_).reshape(-1)]


class IndependentCalls:
    """Takes the flag of a collective operation from those that begin within some regions.

    Parameters
    ----------
    ids : uint32 (n,)
        Of the regions.
    """

    def __init__(self, ids: Codes) -> None:
        self._ids = ids
        # In which location the last one was entered and not left.
        self._open = -1

    def corrected(self, batch: EventBatch) -> EventBatch:
        """Return a batch with the flags as they should be; batches of a location come one after the other."""
        crossed, events = batch.regions, batch.events
        if not len(self._ids) or not (len(crossed) or self._open >= 0):
            return batch
        # Parameters stand among Enter and Leave at places below 0.
        mine = np.flatnonzero(np.isin(crossed.region, self._ids) & (crossed.position >= 0))
        last = np.searchsorted(crossed.position[mine], np.arange(len(events)), side="right") - 1
        opened = np.append(np.where(crossed.enter[mine], crossed.location[mine], -1), self._open)
        within = (opened[last] == events.location) & (events.kind == IoRecord.OPERATION_BEGIN)
        self._open = int(opened[len(mine) - 1])
        flags = np.where(within, events.flags & ~np.uint32(IoFlag.COLLECTIVE), events.flags)
        return replace(batch, events=replace(events, flags=flags))
