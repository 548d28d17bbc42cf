"""Which rank is the last one in each phase, which are late, and by how much."""

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

import numpy as np

from ...layers.selection.directions import Direction, Traffic
from ...layers.summary.arrivals import ArrivalSums, Stretches
from ...layers.trace import Trace
from ...model.arrays import Floats, Frozen, Ints, Mask
from ...model.codes import IoMode
from ...model.document import Record
from ..results.parts import Phase

SignalOf = tuple[str, Direction, Traffic]
"""A layer, a direction and the traffic that counts."""
_SMALL: Final = 0.01
"""Requests of less than this share of the large ones do not make a rank the last one."""
_MODES: Final = {"read": IoMode.READ, "write": IoMode.WRITE}
_MOST: Final = 1 << 18
"""Phases times ranks that are looked at; of more the first phases."""
_LONGER: Final = 0.5
"""How far behind its end what still belongs to a phase may begin, as a share of the time until the next one."""


class LastRank(Record):
    """Who was last in one phase.

    A rank is done when its last transfer ends. Where transfers are collective, all are done together, and what counts
    is when a rank begins its first.

    Attributes
    ----------
    rank : int
    ranks : int
        How many took part.
    late : float
        How long after the next to last it was, in s: what the phase would gain if this one rank were in time.
    after_median : float
        How long after the median of the ranks it was, in s.
    collective : bool
        Whether most transfers are collective.
    """

    rank: int
    ranks: int
    late: float
    after_median: float
    collective: bool


NO_LAST_RANKS: Final[Mapping[SignalOf, tuple[LastRank | None, ...]]] = MappingProxyType({})
"""Where nobody asked for them."""


def last_ranks(
    trace: Trace, phases: Mapping[SignalOf, tuple[Phase, ...]]
) -> dict[SignalOf, tuple[LastRank | None, ...]]:
    """Return who was last in each phase, None in one of fewer than two ranks.

    Of more than 2^18 phases times ranks only the first phases are looked at, and the later ones are None: memory and
    time are bounded.

    Parameters
    ----------
    phases : mapping
        From layer, direction (``read`` or ``write``) and traffic to the phases of that signal.
    """
    found = {}
    for key, of in _arrivals(trace, phases):
        rank, late = of.rank[of.final], of.behind(of.final)
        last: list[LastRank | None] = [None] * len(phases[key])
        columns = of.phase, rank, of.count, late, of.after_median
        for phase, one, many, lag, behind in zip(*(column.tolist() for column in columns), strict=True):
            last[phase] = LastRank(one, many, lag, behind, of.collective)
        found[key] = tuple(last)
    return found


class LateRanks(Frozen):
    """Who was late in each phase in which several ranks took part; these are columns of shape (phases,).

    Late are those behind the widest gap of all ranks in their order, at most half of them.

    Attributes
    ----------
    rank : int64 (ranks,)
        All that were late in any phase.
    late : bool (phases, ranks)
    gain : float64
        What the phase would gain if those that were late were as early as the last of the others, in s.
    after_median : float64
        How long after the median of the ranks the last one was, in s.
    count : int64
        How many ranks took part.
    collective : bool
        Whether most transfers are collective.
    """

    rank: Ints
    late: Mask
    gain: Floats
    after_median: Floats
    count: Ints
    collective: bool


def late_ranks(trace: Trace, phases: Mapping[SignalOf, tuple[Phase, ...]]) -> dict[SignalOf, LateRanks]:
    """Return who was late in each phase; what is looked at and the parameters are those of `last_ranks`."""
    found = {}
    for key, of in _arrivals(trace, phases):
        if not len(of.phase):
            continue
        place = np.arange(int(of.count.sum())) - np.repeat(np.cumsum(of.count) - of.count, of.count)
        row = place + np.repeat(of.final - of.count + 1, of.count)
        phase = np.repeat(np.arange(len(of.phase)), of.count)
        behind = row[2 * place >= of.count[phase]]
        phase_behind = phase[2 * place >= of.count[phase]]
        order = np.lexsort((of.behind(behind), phase_behind))
        widest = order[np.append(np.flatnonzero(np.diff(phase_behind[order])), len(order) - 1)]
        first = behind[widest]
        late = row >= first[phase]
        ranks, column = np.unique(of.rank[row[late]], return_inverse=True)
        members = np.zeros((len(of.phase), len(ranks)), np.bool_)
        members[phase[late], column] = True
        gain = (of.time[of.final] - of.time[first - 1]) / of.second
        found[key] = LateRanks(ranks, members, gain, of.after_median, of.count, of.collective)
    return found


class _Arrivals(Frozen):
    """When each rank was there in each phase: rows by phase, and in it by time; `phase` are those with several ranks.

    `final` are the rows of their last ranks, `count` the numbers of their ranks.
    """

    time: Ints
    rank: Ints
    phase: Ints
    final: Ints
    count: Ints
    collective: bool
    second: float

    def behind(self, rows: Ints) -> Floats:
        """Return how long after the rank before it each one was there, in s."""
        return np.asarray((self.time[rows] - self.time[rows - 1]) / self.second)

    @property
    def after_median(self) -> Floats:
        """How long after the median of the ranks the last one was there, in s."""
        middle = 0.5 * (self.time[self.final - self.count // 2] + self.time[self.final - (self.count - 1) // 2])
        return np.asarray((self.time[self.final] - middle) / self.second)


def _arrivals(trace: Trace, phases: Mapping[SignalOf, tuple[Phase, ...]]) -> Iterator[tuple[SignalOf, _Arrivals]]:
    recording = trace.definitions.recording
    wanted = {key: found for key, found in phases.items() if found and key[1] in _MODES}
    if not wanted or recording.reason("ranks", "operations"):
        return
    ranks = np.append(trace.definitions.groups.rank, -1)
    most = max(_MOST // (len(wanted) * len(ranks)), 1)
    stretches = [_stretches(trace, *key, found[:most]) for key, found in wanted.items()]
    sums = trace.stream.summed(partial(ArrivalSums, stretches)).sums
    sums = sums.taken(ranks[sums.keys[2]] >= 0)
    second = trace.scope.window.ticks_per_second
    for place, (key, known) in enumerate(wanted.items()):
        mine = sums.taken(sums.keys[0] == place)
        collective = bool(2 * mine["collective"].sum() > mine["count"].sum())
        time = mine["begin" if collective else "end"]
        order = np.lexsort((time, mine.keys[1]))
        edges = np.searchsorted(mine.keys[1], np.arange(len(known) + 1))
        counts = np.diff(edges)
        shared = np.flatnonzero(counts > 1)
        last, count, rank = edges[shared + 1] - 1, counts[shared], ranks[mine.keys[2][order]]
        yield key, _Arrivals(time[order], rank, shared, last, count, collective, second)


def _stretches(
    trace: Trace, layer: str, direction: Direction, traffic: Traffic, phases: tuple[Phase, ...]
) -> Stretches:
    """Return the time from each phase on until the next, less half of what lies between them."""
    stack, one = trace.scope.stack, trace.layers[layer]
    handles = trace.scope.selection.selected & (stack.layer == trace.order.index(layer))
    if traffic != "all":
        handles = handles & ((stack.higher < 0) == (traffic == "own"))
    second = trace.scope.window.ticks_per_second
    start = np.array([phase.start for phase in phases]) * second
    end = np.array([phase.end for phase in phases]) * second
    following = np.append(start[1:], end[-1] + float(np.median(start[1:] - end[:-1])) if len(start) > 1 else end[-1])
    # Times of phases are seconds that were ticks.
    start, end = np.rint(start), np.rint(end + _LONGER * (following - end))
    large = one.statistics(direction).request_bytes.p90
    least = max(1.0, _SMALL * (large or 0))
    return Stretches(handles, _MODES[direction], least, start.astype(np.int64), end.astype(np.int64))
