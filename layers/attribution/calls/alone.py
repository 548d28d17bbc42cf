"""For which rank all others wait: while it alone is outside of MPI, nobody else can end what they wait for."""

from typing import NamedTuple

import numpy as np

from ....model.arrays import Floats, Frozen, Ints, Mask
from ....model.ranges import Coverage
from ....model.sums import NOBODY
from .waits import Waits


class Alone(Frozen):
    """When each rank was outside of MPI, or in I/O, and all others in MPI without I/O, until it called MPI itself.

    Where others go on by themselves, they did not wait for it. Columns of shape (ranks,) in s.

    Attributes
    ----------
    rank : tuple of int
    summed : float64
    io : float64
        The part of it in calls of I/O on selected files.
    hidden : float64
        What the rank was in I/O while the one with the largest `summed` was neither in I/O nor in MPI.
    awaited : float64
        What each other rank was in MPI without I/O on average while this one was not.
    stretches : float64
        How many equal stretches would vary as little: one that is most of the time makes it one, whatever is beside.
    """

    rank: tuple[int, ...]
    summed: Floats
    io: Floats
    hidden: Floats
    awaited: Floats
    stretches: Floats


class Stretches(NamedTuple):
    """When one process alone was not waiting in MPI, columns of shape (n,), and how long others were in it."""

    place: Ints
    """Of the process among all."""
    begin: Ints
    end: Ints
    ended: Mask
    """Whether it ends as the process does something else itself."""
    awaited: Floats
    """How long each other process was in MPI on average while this one was not, in ticks, float64 (processes,)."""


def alone_of(
    rank: tuple[int, ...], processes: Ints, covered: tuple[Coverage, Coverage], found: Stretches, second: float
) -> Alone:
    """Find when each rank was outside of MPI alone.

    Parameters
    ----------
    rank : tuple of int
    processes : int64 (ranks,)
        In ascending order.
    covered : Coverage, Coverage
        What calls of I/O, and these and calls of MPI that may wait, cover by process.
    found : Stretches
    second : float
        Ticks of a second.
    """
    (io, either), number = covered, len(rank)
    who, begin, end, ended, awaited = found
    # Stretches that only a call of I/O parts are one.
    first = np.append(True, (who[1:] != who[:-1]) | (begin[1:] != end[:-1]))[: len(who)]
    last = np.append(first[1:], True)[: len(who)]
    over = np.repeat(ended[last], np.diff(np.append(np.flatnonzero(first), len(who))))
    who, begin, end, first = who[over], begin[over], end[over], first[over]
    whole = np.add.reduceat(end - begin, np.flatnonzero(first)) if len(who) else NOBODY
    summed = np.bincount(who[first], whole, number)
    squares = np.bincount(who[first], np.square(whole.astype(np.float64)), number)
    in_io, hidden, longest = np.zeros(number), np.zeros(number), int(processes[summed.argmax()])
    for row, process in enumerate(processes.tolist()):
        mine = who == row
        in_io[row] = float((io.until(process, end[mine]) - io.until(process, begin[mine])).sum())
        own = io.taken(io.group == process)
        hidden[row] = own.length - float((either.until(longest, own.end) - either.until(longest, own.begin)).sum())
    stretches = np.square(summed) / np.maximum(squares, 1.0)
    return Alone(rank, summed / second, in_io / second, hidden / second, awaited / second, stretches)


def alone_stretches(processes: Ints, covered: tuple[Coverage, Coverage, Waits], window: tuple[int, int]) -> Stretches:
    """Return when one process alone was not waiting in MPI.

    Parameters
    ----------
    processes : int64 (processes,)
        In ascending order.
    covered : Coverage, Coverage, Waits
        What calls of I/O, and these and calls of MPI that may wait, cover by process; when processes waited in calls of
        I/O for another one.
    window : int, int
        Begin and end.
    """
    io, either, held = covered
    number = len(processes)
    time, change, place = [np.array(window)], [np.zeros(2, np.int64)], [np.zeros(2, np.int64)]
    for group, start, over, sign in (
        (either.group, either.begin, either.end, 1),
        (io.group, io.begin, io.end, -1),
        (held.process, held.begin, held.end, 1),
    ):
        mine = np.searchsorted(processes, group)
        for edge, step in ((start, sign), (over, -sign)):
            time.append(edge)
            change.append(np.full(len(edge), step))
            place.append(mine)
    times, changes = np.clip(np.concatenate(time), *window), np.concatenate(change)
    order = np.argsort(times, kind="stable")
    waiting = np.cumsum(changes[order])
    who = number * (number - 1) // 2 - np.cumsum((changes * np.concatenate(place))[order])
    begin, end = times[order][:-1], times[order][1:]
    # What all are in MPI together until each change, of which is taken off what goes on while the rank is there itself.
    together = np.append(0.0, np.cumsum(waiting[:-1] * (end - begin).astype(np.float64)))
    mine = np.bincount(np.concatenate(place)[order], changes[order] * together, number)
    awaited = (together[-1] + mine) / max(1, number - 1)
    there = (waiting[:-1] == number - 1) & (end > begin) & (who[:-1] >= 0) & (who[:-1] < number)
    until = np.concatenate(place)[order][1:][there]
    who, begin, end = who[:-1][there], begin[there], end[there]
    return Stretches(who, begin, end, until == who, awaited)
