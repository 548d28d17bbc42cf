"""Findings about reads and writes that transfer nothing and are tried again."""

from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import partial
from typing import Any, Final

import numpy as np

from ...layers.attribution.attribution import TraceBlock
from ...layers.handles.scope import Scope
from ...layers.selection.window import sums_by
from ...model.arrays import Ints
from ...model.codes import UNDEFINED_UINT64, IoFlag, IoMode, Status
from ...model.keyed import KeyedSums, numbered
from ...model.quantities import percent_text, seconds_text
from ...model.sums import NOBODY, Sums, keyed
from .facts import MUCH_OF_RUN, Facts, Gain, Match
from .rule import finding

_IN_A_ROW: Final = 3
"""Of a thread on one file from which on it is tried again and again."""
_LONGER: Final = 2
"""Powers of two by which a pause may be longer than the usual one: beyond, a thread does something else."""
_HOW: Final = {
    "read": ("return nothing", "there is nothing more in the file yet", "being told when there is more"),
    "write": ("fail", "what they were to write is not written", "ending at the first error"),
}
"""What transfers in vain do, what that means, and what helps."""
_GAIN: Final[dict[str, Callable[[float], Gain]]] = {
    "read": lambda _: Gain((0.0, 0.0), "what is not there yet has to be waited for"),
    "write": lambda cost: Gain((0.0, cost), "from nothing, if it has to wait for space, to all of it"),
}


@finding(needs=("metadata",), outside_io=True, units={"in_vain": "count"})
def transfers_in_vain(
    facts: Facts, *, share_of_run: float = MUCH_OF_RUN, often: float = 20, share_failed: float = 0.01
) -> Iterator[Match]:
    """Writes fail, or reads return nothing, and are tried again and again.

    Parameters
    ----------
    share_of_run : share
        Less makes no run faster.
    often : count
        Fewer are no polling.
    share_failed : share
        Of the writes to files that count, which may fail whatever that costs: below, one was interrupted.

    Notes
    -----
    :In short: reads or writes are tried in vain; ending at the first one
    :Why: The process waits for space, or for what another one writes, and what it asks for meanwhile leads nowhere.
    :How it is measured: Writes that return an error, and reads of 0 bytes, with another one in vain on the same file
        right behind; cost is the time from one to the next, of the rank where that is longest, without pauses that are
        some times as long as usual. Writes to devices that are set aside count, reads of what is set aside do not. How
        many writes fail is told of files that count in any case.
    :When it is wrong: Whether a process waits or computes between two of them is not recorded.
    :What helps: For writes: look at the error (ENOSPC, EDQUOT, EFBIG), stop or go elsewhere at the first one. For reads
        of a file that grows: let the process that writes say when there is more (a message, a pipe, inotify), or ask
        less often.
    """
    gathered = facts.trace.stream.summed(partial(_VainSums, facts.trace.scope))
    gathered.finish()
    sums = gathered.sums
    for row, layer in enumerate(facts.cells.layers):
        for mode, direction in ((IoMode.READ, "read"), (IoMode.WRITE, "write")):
            mine = sums.taken((sums.keys[0] == row) & (sums.keys[3] == mode))
            again, waited = _again(facts, mine)
            cost = float(waited.max(initial=0.0)) / facts.cells.window.ticks_per_second
            own = mine.taken(np.append(facts.trace.scope.selection.file_reason, -1)[mine.keys[4]] < 0)
            every, failed = facts.cells.operations(facts.cells.of(layer, direction)), int(own["count"].sum())
            much = cost >= share_of_run * facts.run_s and int(again["count"].sum()) >= often
            if much or (direction == "write" and failed > share_failed * every):
                # The end of a file that is read on is none.
                there, polled = ((keys[1] << 32) + keys[4] for keys in (mine.keys, again.keys))
                told = mine if direction == "write" else mine.taken(np.isin(there, polled))
                yield _vain_match(facts, (layer, direction), (told, again, every), cost)


def _vain_match(facts: Facts, of: tuple[str, str], found: tuple[KeyedSums, KeyedSums, int], cost: float) -> Match:
    """Return the match of transfers in vain of a layer and direction, and those tried again, which cost so many s."""
    (layer, direction), (sums, again, every) = of, found
    number, second = int(sums["count"].sum()), facts.cells.window.ticks_per_second
    (fails, so, helps), files = _HOW[direction], facts.on_files(sums.keys[4], sums["count"])
    many = f"{number:,} of {every:,} {layer} {direction}s" if every >= number else f"{number:,} {layer} {direction}s"
    pace = seconds_text(float(again["ticks"].sum()) / max(1, int(again["count"].sum())) / second)
    share = percent_text(cost / facts.run_s)
    tried = f", {pace} after one another, for {seconds_text(cost)}, {share} of the run" if len(again) else ""
    where: dict[str, Any] = {**files, **facts.who(np.unique(sums.keys[2]))}
    short = {"in_short": f"{direction}s {fails}; {helps}"}
    where["time_range_s"] = facts.extent(sums["begin"], sums["end"])
    return Match(
        layer,
        f"{many} {fails}{tried}: {so}",
        {"direction": direction, "in_vain": number, "tried_again_s": cost, **short},
        where=where,
        cost_s=cost or None,
        gain=_GAIN[direction](cost) if cost else None,
    )


def _again(facts: Facts, sums: KeyedSums) -> tuple[KeyedSums, Ints]:
    """Return those that another one in vain follows after a usual pause, and the ticks until then by process."""
    pause, number = sums.keys[5], len(facts.definitions.groups.id)
    known = pause >= 0
    if not known.any():
        return sums.taken(known), np.zeros(number, np.int64)
    by_pause = np.bincount(pause[known], sums["count"][known])
    usual = int(np.searchsorted(np.cumsum(by_pause), 0.5 * by_pause.sum()))
    again = sums.taken(known & (pause <= usual + _LONGER))
    # The end of a file is read once or twice, as by what copies files one after the other.
    file = numbered(again.keys[1], again.keys[4])
    again = again.taken(np.bincount(file, again["count"])[file] >= _IN_A_ROW)
    return again, sums_by(again.keys[2], again["ticks"], number).astype(np.int64)


class _Column(IntEnum):
    """What is kept of an operation: first what makes those that follow one another one series."""

    LOCATION = 0
    HANDLE = 1
    MODE = 2
    BEGIN = 3
    END = 4
    PROCESS = 5
    VAIN = 6


class _VainSums(Sums):
    """Transfers in vain.

    Attributes
    ----------
    sums : KeyedSums
        How many, ticks until the next one in vain on the same handle if that is the next there, when the first begins
        and the last ends, by layer, thread, process, mode, file and the power of two of these ticks, −1 without.
    """

    scope: Scope
    sums: KeyedSums = keyed(6, "count", "ticks", "begin", "end")

    def prepare(self) -> None:
        self._file = np.append(self.scope.definitions.handles.file, -1).astype(np.int64)
        # The last ones, which the next block may go on with; see `_Column`.
        self._last = np.zeros((len(_Column), 0), np.int64)

    def add(self, block: TraceBlock) -> None:
        """Add a block."""
        done, scope = block.operations, self.scope
        self.finish(np.unique(done.process).astype(np.int64))
        write, zero = done.mode == IoMode.WRITE, done.bytes_moved == 0
        vain = zero & (done.status == Status.COMPLETE) & (done.requested != 0) & (done.process >= 0)
        vain &= (done.flags & np.uint32(IoFlag.NON_BLOCKING)) == 0
        # Nothing read is told by 0: an error, as at the end of a stream, may be anything.
        aside = scope.selection.reason_of(done.handle) >= 0
        vain &= (write & (done.requested != UNDEFINED_UINT64)) | (
            (done.mode == IoMode.READ) & (done.moved == 0) & ~aside
        )
        vain &= (self._file[done.handle] >= 0) & scope.window.contains(done.begin)
        if not vain.any() and not self._last.size:
            return
        tried = np.append(done.handle[vain], self._last[_Column.HANDLE])
        rows = np.flatnonzero(np.isin(done.handle, tried) & (done.mode != IoMode.FLUSH))
        columns = done.location, done.handle, done.mode, done.begin, done.end, done.process, vain
        here = np.concatenate((self._last, np.array([one[rows] for one in columns], np.int64)), axis=1)
        here = here[:, np.lexsort(here[_Column.BEGIN :: -1])]
        vain = here[_Column.VAIN] > 0
        last = np.append((here[: _Column.BEGIN, 1:] != here[: _Column.BEGIN, :-1]).any(axis=0), True)
        gap = np.where(last | ~np.append(vain[1:], False), 0, np.append(np.diff(here[_Column.BEGIN]), 0))
        self._last = here[:, vain & last]
        self._take(here[:, vain & ~last], gap[vain & ~last])

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Add the last ones of all processes but those that are going on: none follows."""
        over = ~np.isin(self._last[_Column.PROCESS], going_on)
        ended, self._last = self._last[:, over], self._last[:, ~over]
        self._take(ended, np.zeros(ended.shape[1], np.int64))

    def _take(self, found: Ints, gap: Ints) -> None:
        """Add some, with the ticks until the next one in vain, 0 without."""
        location, handle, mode, begin, end, process, _ = found
        pause = np.where(gap > 0, np.frexp(np.maximum(gap, 1).astype(np.float64))[1], -1)
        keys = self.scope.stack.layer[handle], location, process, mode, self._file[handle], pause
        values = {"count": np.ones(len(handle), np.int64), "ticks": gap, "begin": begin, "end": end}
        self.sums = self.sums.plus([one.astype(np.int64) for one in keys], values)
