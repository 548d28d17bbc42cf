"""What rules look at: the operations of a trace by kind, and who did some of them where and when."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from ...layers.attribution.calls.cost import io_seconds
from ...layers.attribution.calls.functions import CALLER, FUNCTION, NO_EVENT, TRANSFER
from ...layers.flow.flow import Flow
from ...layers.flow.relations import SizeLimits
from ...layers.handles.stack import layer_name
from ...layers.selection.directions import DIRECTIONS, Direction
from ...layers.selection.window import sums_by
from ...layers.trace import Trace
from ...model.arrays import Floats, Integers, Ints, Links, Mask, Rows
from ...model.codes import IoFlag, IoMode, IoRecord
from ...model.keyed import KeyedSums
from ...model.sums import NOBODY
from ..detect import detect_period
from ..results.parts import Phase
from ..results.result import PeriodResult
from .waiting import waited_part

LEAST_SHARE: Final = 0.01
"""What concerns less of the bytes and of the time is no warning."""
MUCH_OF_RUN: Final = 0.02
MUCH_OF_IO: Final = 0.1
"""From which shares on flushes and closes are told whatever stands beside them."""
KIB: Final = 2**10
MIB: Final = 2**20
NO_PERIODS: Final[Mapping[tuple[str, str], PeriodResult]] = {}
FILES_SHOWN: Final = 8
_DOES: Final = {
    "read": re.compile(r"^(?!MPI_File_get).*(read|get|scanf)"),
    "write": re.compile(r"write|put|printf"),
    "flush": re.compile(r"sync|flush"),
}
"""Names of functions that do so."""
RANKS_SHOWN: Final = 64
_SETS_VIEW: Final = "MPI_File_set_view"
_UNKNOWN_PART: Final = 0.2
"""Of a kind of call, operations of which it is not known which they are: who calls them must make nearly all."""


class Gain(NamedTuple):
    """From which time to which could be saved, in s, and by which better case."""

    gain_s: tuple[float, float]
    gain_reason: str

    def of(self, cost: float) -> "Gain":
        """Return no more than there is to pay, and no less than a quarter of the most where there is a least."""
        least, most = (min(one, cost) for one in self.gain_s)
        if 0 < _FAR_APART * least < most:
            return Gain((most / _FAR_APART, most), f"{self.gain_reason}; from a quarter of that on, as most runs did")
        return Gain((least, most), self.gain_reason)


_FAR_APART: Final = 4.0
"""Ratio beyond which a range is no estimate. Of runs that were done both ways nine in ten saved a quarter or more of
the most: see ``benchmarks/RESULTS.md``."""


@dataclass(frozen=True)
class Match:
    """One place where a rule applies.

    Attributes
    ----------
    layer : str
        Layer that is looked at; of a pair the upper one.
    text : str
        What was found, in a sentence with its numbers.
    evidence : dict
        The numbers by name; see `Rule.unit` for their units.
    cells : bool (cells,) or None
        The operations that it is about; None where it is about none.
    cost_s : float or None
        What it costs the run, in s; None for the time that the rank which is longest in these operations spends there.
    minor : bool
        Whether it is for information, whatever it costs.
    gain : Gain or None
        What of it could be saved, at least and at most, as the trace shows a better case; None where it shows none.
    advice : str
        What helps here, where it is something else than what the rule says.
    where : dict or None
        Who did it, on which files and when, as evidence; None where that is who did the operations in `cells`.
    """

    layer: str
    text: str
    evidence: dict[str, Any]
    cells: Mask | None = None
    cost_s: float | None = None
    minor: bool = False
    gain: Gain | None = None
    advice: str = ""
    where: dict[str, Any] | None = None

    def gained(self, cost: float | None) -> tuple[tuple[float, float] | None, str]:
        """Return what could be saved of a cost, and why; None and nothing where it is not known."""
        return (None, "") if self.gain is None or cost is None else self.gain.of(cost)


def blocking_s(trace: Trace) -> Floats:
    """Return the time in which each process has a blocking operation in s: what is known of I/O without its calls."""
    processes = np.arange(len(trace.definitions.groups.id))
    return trace.calls.blocking.lengths(processes) / trace.definitions.clock.ticks_per_second


class Facts:
    """A trace, for rules to look at: its operations by their kind, and what was added up one by one.

    Parameters
    ----------
    trace : Trace
    limits : SizeLimits
        From where on requests are small or split.
    periods : mapping
        What was detected already in the bandwidth of a layer in a direction.
    """

    def __init__(
        self, trace: Trace, limits: SizeLimits, periods: Mapping[tuple[str, str], PeriodResult] = NO_PERIODS
    ) -> None:
        self.trace, self._periods = trace, periods
        self._relations = trace.relations.with_limits(limits)
        self.sums, self.cells = self._relations.sums, self._relations.cells
        self.definitions = trace.definitions

    def damaged(self, _layer: str) -> bool:
        """Tell whether what is lost of the trace may be behind what is found in a layer."""
        return self.trace.damage.damaged

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The flows of all connected pairs, read and write."""
        return self._relations.flows

    def adjacent(self, *directions: str) -> tuple[Flow, ...]:
        """Return the flows between neighbouring layers in some directions, one direction after the other."""
        return tuple(one for way in directions for one in self.flows if one.adjacent and one.direction == way)

    def own(self) -> Iterator[tuple[str, Direction, Mask]]:
        """Give for each layer and direction the operations that the program itself asks for, bool (cells,)."""
        for layer in self.cells.layers:
            for direction in DIRECTIONS:
                yield layer, direction, self.cells.of(layer, direction) & self.cells.own

    def own_phases(self, layer: str, direction: Direction) -> tuple[Phase, ...]:
        """Return the phases of what the program itself moves in a layer."""
        found, known = self.trace.layers[layer], self._periods.get((layer, direction))
        if known is not None and found.lineages_of("own") == found.lineages_of("all"):
            return known.phases
        return detect_period(found.bandwidth(direction, "own")).phases

    def collective(self, fewest: float = 1) -> Iterator["CollectiveFlow"]:
        """Give the flows to the operating system below at least `fewest` collective calls, writes first."""
        for flow in self.adjacent("write", "read"):
            if flow.lower in self.systems and len(flow.collectives) >= fewest:
                yield CollectiveFlow(flow, self)

    def to_bottom(self, direction: str) -> tuple[Flow, ...]:
        """Return the flows from each layer that is above another and not below one, to the lowest it connects to."""
        flows = [flow for flow in self.flows if flow.direction == direction and flow.lower_operations]
        below = {flow.lower for flow in flows if flow.upper_operations}
        last: dict[str, Flow] = {flow.upper: flow for flow in flows if flow.upper not in below}
        return tuple(last.values())

    @cached_property
    def parallel(self) -> frozenset[str]:
        """Layers of parallel paradigms."""
        return frozenset(layer_name(one) for one in self.definitions.paradigms if one.parallel)

    @cached_property
    def systems(self) -> frozenset[str]:
        """Layers that are the operating system's own interface."""
        return frozenset(layer_name(one) for one in self.definitions.paradigms if one.os)

    @cached_property
    def run_s(self) -> float:
        """Length of the window in s."""
        window = self.cells.window
        return (window.end - window.start) / window.ticks_per_second

    def is_much(self, seconds: float) -> bool:
        """Tell whether a rank's time of some calls is `MUCH_OF_RUN`, or `MUCH_OF_IO` of what any rank is in I/O."""
        cost = self.trace.calls.cost
        io_s = float((blocking_s(self.trace) if cost is None else cost.io).max(initial=0.0)) or np.inf
        return seconds > 0 and seconds >= min(MUCH_OF_RUN * self.run_s, MUCH_OF_IO * io_s)

    def rank_seconds(self, cells: Mask) -> Floats:
        """Return the time that each process spends in some operations, one after the other, float64 (processes,).

        Without what it waits in calls of several processes until the last one comes: that is no time of I/O. Nor is
        what goes on beside all that it does (`waited_part`).
        """
        return self.seconds_by(self.cells.process, len(self.definitions.groups.id), cells)[self.cells.processes]

    def seconds_by(self, group: Links, number: int, cells: Mask) -> Floats:
        """Return the same for operations of each group of one process each, float64 (number,)."""
        chosen = cells & (self.cells.process >= 0)
        ticks = sums_by(group[chosen], self._worked[chosen], number)
        return np.minimum(ticks / self.cells.window.ticks_per_second, self.run_s)

    @cached_property
    def _once(self) -> Floats | float:
        """Which part of its time each cell takes, float64 (cells,): several operations of one call take it once.

        As those of ``writev`` do. They show where a layer's operations together take longer than calls of I/O.
        """
        cells, calls, of = self.cells, self.trace.calls.totals, self.definitions.locations.group
        processes, second = len(self.definitions.groups.id), cells.window.ticks_per_second
        if calls is None:
            return 1.0
        in_io = np.bincount(of[of >= 0], io_seconds(calls)[of >= 0], minlength=processes)
        shown = cells.selected & (cells.process >= 0) & ((cells.flags & np.uint32(IoFlag.NON_BLOCKING)) == 0)
        place = cells.layer.astype(np.int64) * processes + cells.process
        whole = sums_by(place[shown], cells.columns.ticks[shown], len(cells.layers) * processes) / second
        if not (whole > np.tile(in_io, len(cells.layers))).any():
            return 1.0
        # Of several threads, or of calls that are not recorded, it is not known.
        several = np.bincount(of[of >= 0], io_seconds(calls)[of >= 0] > 0, minlength=processes) != 1
        most = np.where(several, np.inf, blocking_s(self.trace))
        part = np.minimum(1.0, np.tile(most, len(cells.layers)) / np.maximum(whole, 1e-9))
        return np.where(shown, part[np.where(shown, place, 0)], 1.0)

    @cached_property
    def _worked(self) -> Floats:
        """Ticks of the operations that processes wait for, but until the last of several came, float64 (cells,).

        Also where that one was in other I/O: that is the time of the other.
        """
        cells, met = self.cells, self.trace.calls.all_meetings
        ticks = cells.columns.ticks * self.waited_part * self._once
        if not len(met):
            return ticks
        waits = KeyedSums((met.process, met.handle, met.kind - TRANSFER), {"ticks": met.waited})
        keys = cells.process.astype(np.int64), cells.handle.astype(np.int64), cells.mode.astype(np.int64)
        there = np.where(cells.selected, cells.columns.ticks, 0)
        whole = KeyedSums(keys, {"ticks": there}).at(keys, "ticks")
        share = np.minimum(1.0, waits.at(keys, "ticks") / np.maximum(whole, 1))
        return np.asarray(ticks * (1 - np.where(cells.selected, share, 0.0)))

    @cached_property
    def waited_part(self) -> Floats:
        """Which part of its time each cell's process may wait for, float64 (cells,)."""
        return waited_part(self.trace, self.cells, self.worked_metadata)

    @cached_property
    def first_threads_s(self) -> float | None:
        """Time in s that the first thread of a rank is in I/O at most; None where no other thread is in I/O."""
        cost = self.trace.calls.cost
        return None if cost is None or not cost.other_threads_io.any() else float(cost.io.max(initial=0.0))

    @cached_property
    def worked_metadata(self) -> KeyedSums:
        """The calls that move no data and count, without the ticks that they waited for the last process; see `Calls`.

        Also where that one was in I/O, such as its part of a write before all close the file: that is the time of this.
        None of them where the trace does not record Enter and Leave.
        """
        calls = self.trace.calls.totals
        if calls is None:
            return KeyedSums.none(7, "calls", "ticks", "begin", "end")
        sums, waits = calls.counted_metadata, self.trace.calls.all_meetings.sums
        return KeyedSums(sums.keys, {**sums.values, "ticks": sums["ticks"] - waits.at(sums.keys[:6], "ticks")})

    def metadata_seconds(self, layer: int) -> Floats | None:
        """Return what opens, closes and the like in a layer took each process in s, float64 (all processes,).

        None where it is not known; seeks are none of them, and cost nothing.
        """
        return None if self.trace.calls.totals is None else self.seconds_of(self.events_of(layer))

    def has_views(self, layer: str) -> bool:
        """Tell whether views of files are set in a layer, by which data may lie in many parts."""
        calls = self.trace.calls.totals
        if calls is None:
            return False
        sums = calls.counted_metadata.taken(calls.counted_metadata.keys[0] == self.cells.layer_row(layer))
        names = calls.functions.regions.name
        return any(names[region].startswith(_SETS_VIEW) for region in np.unique(sums.keys[5]).tolist() if region >= 0)

    def events_of(self, layer: int) -> KeyedSums:
        """Return the calls of a layer that are metadata events, but seeks."""
        sums = self.worked_metadata
        return sums.taken((sums.keys[0] == layer) & ~np.isin(sums.keys[1], (IoRecord.SEEK, NO_EVENT)))

    def seconds_of(self, sums: KeyedSums) -> Floats | None:
        """Return the time of some calls by process in s, float64 (all processes,); None where definitions are damaged.

        Of transfers the time is that of known processes only.
        """
        if (sums.keys[2] < 0).any():
            return None
        found = np.bincount(sums.keys[2], sums["ticks"], minlength=len(self.definitions.groups.id))
        return np.asarray(found / self.cells.window.ticks_per_second)

    def with_flushes(self, layer: str, direction: str, cells: Mask) -> Mask:
        """Return operations of a layer and direction with the program's flushes beside them: these wait for writes."""
        if direction != "write":
            return cells
        mine = self.cells.own & self.cells.selected & (self.cells.layer == self.cells.layer_row(layer))
        return np.asarray(cells | (mine & (self.cells.mode == IoMode.FLUSH)))

    def longest_s(self, cells: Mask) -> float:
        """Return the time that the rank which is longest in some operations spends there, in s."""
        return float(self.rank_seconds(cells).max(initial=0.0))

    def cost(self, match: Match) -> float | None:
        """Return what a match costs the run in s.

        None where it is about no operation with a time, or where nobody knows which rank spends it: the sum over all
        would be many times as much.
        """
        if self.definitions.recording.reason("ranks"):
            return None
        if match.cost_s is not None or match.cells is None:
            return match.cost_s
        return self.longest_s(match.cells)

    def called(self, layer: str, deed: str, cells: Mask | None = None) -> dict[str, str]:
        """Return the function that most of the time in some operations goes to, and who of the program called it.

        Nothing where the trace does not tell. What each function takes is known of a layer's time in a kind of call:
        one that takes so much of it that most of the time in question must be its is named.

        Parameters
        ----------
        layer : str
        deed : str
            ``read``, ``write`` or ``flush``.
        cells : bool (cells,), optional
            The operations, where it is known which they are.
        """
        calls, rows = self.trace.calls.totals, self._paths_of(layer, deed)
        found: dict[str, str] = {}
        if calls is None or not len(rows):
            return found
        regions, ticks = calls.functions.regions, calls.outermost[:, 1]
        mine = _UNKNOWN_PART if cells is None else self._share_of_deed(layer, deed, cells)
        for by in (FUNCTION, CALLER):
            taken = sums_by(calls.paths.keys(by)[rows] + 1, ticks[rows], len(regions) + 1)
            most = int(taken.argmax())
            if most and taken[most] > (1 - mine / 2) * taken.sum():
                found[by] = calls.paths.texts(by, np.array([most - 1]))[0]
        return found

    def _paths_of(self, layer: str, deed: str) -> Rows:
        """Return the call paths of functions of a layer that read, write or flush; none where that is not known."""
        calls = self.trace.calls.totals
        if calls is None or deed not in _DOES or layer not in calls.scope.order:
            return NOBODY
        of_layer, names = calls.functions.layer == calls.scope.order.index(layer), calls.functions.regions.name
        does = np.array([bool(of_layer[row] and _DOES[deed].search(name)) for row, name in enumerate(names)], np.bool_)
        return np.flatnonzero(does[calls.paths.region])

    def longest_in_calls_s(self, layer: str, direction: Direction, cells: Mask) -> float:
        """Return the time that the rank which is longest in some operations spends in the calls that make them, in s.

        Of short ones, what a call does before and after is a good part, as long in each as on average in all.
        """
        calls, every = self.trace.calls.totals, self.cells.of(layer, direction)
        seconds = self.rank_seconds(cells)
        if calls is not None:
            around = calls.outermost[self._paths_of(layer, direction), 1].sum() - self.cells.columns.ticks[every].sum()
            each = max(0.0, around / max(1, self.cells.operations(every))) / self.cells.window.ticks_per_second
            known = cells & (self.cells.process >= 0)
            often, length = self.cells.columns.operations[known], len(self.definitions.groups.id)
            seconds = seconds + each * sums_by(self.cells.process[known], often, length)[self.cells.processes]
        return min(float(seconds.max(initial=0.0)), self.run_s)

    def _share_of_deed(self, layer: str, deed: str, cells: Mask) -> float:
        """Return the share of some operations in the time of all of their layer and kind."""
        of_kind = self.cells.of(layer, deed) if deed in DIRECTIONS else self.cells.mode == IoMode.FLUSH
        of_kind = of_kind & (self.cells.layer == self.cells.layer_row(layer))
        return self.cells.seconds(cells & of_kind) / (self.cells.seconds(of_kind) or 1.0)

    def file_name(self, row: int) -> str:
        """Return the name of a file row, empty where there is none."""
        return self.definitions.files.name[row] if row >= 0 else ""

    def ranks(self, processes: Integers) -> list[int]:
        """Return the distinct MPI ranks of some processes in ascending order."""
        ranks = np.append(self.definitions.groups.rank, -1)[np.unique(processes)]
        return sorted({int(rank) for rank in ranks if rank >= 0})

    def ranks_of(self, cells: Mask) -> list[int]:
        """Return the distinct MPI ranks of some cells in ascending order."""
        return self.ranks(self.cells.process[cells])

    def where(self, cells: Mask) -> dict[str, Any]:
        """Return who did the operations in some cells, on which files and when."""
        if not cells.any():
            return {"ranks": [], "files": [], "time_range_s": None}
        operations = self.cells.columns.operations[cells]
        return {
            **self.who(self.cells.process[cells]),
            **self.on_files(self.cells.file[cells], operations),
            "time_range_s": list(self.cells.extent(cells)),
        }

    def who(self, processes: Integers) -> dict[str, Any]:
        """Return the first ranks of some processes, and how many there are."""
        ranks = self.ranks(processes)
        return {"ranks": ranks[:RANKS_SHOWN], "rank_count": len(ranks)}

    def on_files(self, file: Integers, weight: Ints) -> dict[str, Any]:
        """Return the names of the files with the largest weights, and how many files there are."""
        known, place = np.unique(file, return_inverse=True)
        order = np.argsort(-sums_by(place, weight, len(known)), kind="stable")
        return {
            "files": distinct_names(self.file_name(int(known[row])) for row in order),
            "file_count": int((known >= 0).sum()),
        }

    def files_within(
        self, layer: str, processes: Integers, ticks: tuple[int, int], *modes: int, own: bool = True, share: float = 1.0
    ) -> dict[str, Any]:
        """Return the files on which some processes are longest in a layer's operations between two times.

        What they do there besides in that time is on these files, too: of single operations no file is kept. Where
        some take most of the time, those are enough that have that `share` of it.
        """
        cells = self.cells
        there = cells.selected & (cells.layer == cells.layer_row(layer)) & np.isin(cells.mode, modes)
        there &= np.isin(cells.process, processes) & (cells.columns.begin <= ticks[1]) & (cells.columns.end >= ticks[0])
        there &= cells.own | (not own)
        if share < 1 and there.any():
            names, place = np.unique(cells.file[there], return_inverse=True)
            took = sums_by(place, cells.columns.ticks[there], len(names))
            order = np.argsort(-took, kind="stable")
            until = int(np.searchsorted(np.cumsum(took[order]), share * took.sum())) + 1
            there &= np.isin(cells.file, names[order[:until]])
        return self.on_files(cells.file[there], cells.columns.ticks[there])

    def ticks(self, start: float, end: float) -> tuple[int, int]:
        """Return two times in s as ticks, no later and no earlier."""
        second = self.cells.window.ticks_per_second
        return math.floor(start * second), math.ceil(end * second)

    def extent(self, begin: Ints, end: Ints) -> list[float]:
        """Return the first of some begins and the last of some ends, ticks, in s from the trace's start."""
        second = self.cells.window.ticks_per_second
        return [int(begin.min()) / second, int(end.max()) / second]


class CollectiveFlow:
    """A flow with collective calls of several ranks beneath which bytes moved.

    Attributes
    ----------
    flow : Flow
    calls : FlowCollectives
    upper, lower : bool (cells,)
        Operations of such calls, and those beneath them that moved bytes.
    """

    def __init__(self, flow: Flow, facts: Facts) -> None:
        self.flow, self.calls = flow, flow.collectives
        cells = facts.cells
        collective = ((cells.flags & np.uint32(IoFlag.COLLECTIVE)) != 0) & (cells.handle >= 0)
        sequence = cells.sequences.number(np.maximum(cells.handle, 0), cells.process)
        self.upper = flow.parts["upper"] & collective & np.isin(sequence, self.calls.sequence)
        above = cells.ancestor_in(cells.layer_row(flow.upper))[0]
        below = (flow.parts["attributed"] | flow.parts["inferred"]) & cells.moving
        self.lower = below & (above >= 0) & self.upper[above]

    def where_called(self, facts: Facts) -> dict[str, Any]:
        """Return who made the calls, on which files and when."""
        return {**facts.where(self.upper), "time_range_s": facts.extent(self.calls.begin, self.calls.end)}


def ends_of(flow: Flow) -> dict[str, Any]:
    """Return from which layer to which a flow goes, and its direction."""
    return {"upper": flow.upper, "lower": flow.lower, "direction": flow.direction}


def distinct_names(names: Iterable[str], most: int = FILES_SHOWN) -> list[str]:
    """Return the first names that are not empty, each once: nodes have files of one name, such as ``/proc/cpuinfo``.

    >>> distinct_names(["/proc/cpuinfo", "", "/proc/cpuinfo", "/proc/stat"])
    ['/proc/cpuinfo', '/proc/stat']
    """
    found: dict[str, None] = {}
    for name in names:
        if name:
            found[name] = None
        if len(found) == most:
            break
    return list(found)
