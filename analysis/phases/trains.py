"""Phases of a step signal: the stretches in which it moves more than its mean rate would.

Let V(t) be the cumulative volume, T the window and Z(t) = V(t) - θ t the excess over a level θ, by default the mean
rate. Z rises during a phase and falls between phases; a rise counts as a phase when it and the falls beside it are at
least δ. Z does not depend on a constant floor under the signal, and it needs neither smoothing nor a time scale.

Every δ gives one set of phases. Their number N(δ) is a decreasing staircase; a set of phases that really stands out
keeps its number over a wide range of δ. The *contrast* of a set is that range: the ratio of the two persistences
between which its δ lies. No noise shows a wide step but by chance.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..results.result import Phase

if TYPE_CHECKING:
    from ...signals.construction import StepSignal


Floats = npt.NDArray[np.float64]


LEVEL_SHARE = 0.25


LARGEST_CUT = 0.25


# Excursions below this share of the fourth largest are no phases beside it; it bounds the contrast at 1000.
SMALLEST_SHARE = 1e-3


FEWEST_PHASES = 4


MOST_CANDIDATES = 12


LOWER_LEVELS = 2


LOWEST_LEVEL = 1e-6


# Phases within a smaller part of the window are the parts of one burst.
SHORTEST_EXTENT = 0.1


@dataclass(frozen=True, eq=False)
class PhaseTrain:
    """Phases of one signal in the order of time.

    Attributes
    ----------
    start, end : float64 (n,)
        In s.
    bytes : float64 (n,)
        Volume from start to end.
    cycle_bytes : float64 (n,)
        Volume from each start to the next, the last to the window's end.
    contrast : float
        Ratio of the persistences between which the phases were separated, at least 1.
    """

    start: Floats
    end: Floats
    bytes: Floats
    cycle_bytes: Floats
    contrast: float

    def __len__(self) -> int:
        return int(self.start.size)

    def __getitem__(self, rows: slice) -> "PhaseTrain":
        return PhaseTrain(self.start[rows], self.end[rows], self.bytes[rows], self.cycle_bytes[rows], self.contrast)

    @property
    def intervals(self) -> Floats:
        """Times between starts in s, float64 (n-1,)."""
        return np.diff(self.start)


def vertices(signal: "StepSignal") -> tuple[Floats, Floats]:
    """Return times and cumulative volume, float64 (k,) each; a time comes twice where there is an impulse."""
    times, cumulative = signal.times, signal.cumulative
    if signal.impulse_times.size == 0:
        return times, cumulative
    at, inverse = np.unique(np.searchsorted(times, signal.impulse_times), return_inverse=True)
    volumes = np.bincount(inverse, signal.impulse_volumes)
    before = np.maximum(cumulative[at] - volumes, np.where(at > 0, cumulative[np.maximum(at - 1, 0)], 0.0))
    return np.insert(times, at, times[at]), np.insert(cumulative, at, before)


def phase_rows(train: PhaseTrain | None) -> tuple[Phase, ...]:
    """Return the phases of a train one by one; none for None."""
    if train is None:
        return ()
    columns = train.start.tolist(), train.end.tolist(), train.bytes.tolist()
    return tuple(Phase(*row) for row in zip(*columns, strict=True))


def variation(values: Floats) -> float:
    """Return the coefficient of variation (standard deviation ÷ mean); infinite where the mean is not above 0."""
    if values.size < 2:
        return 0.0
    mean = float(values.mean())
    return float(values.std()) / mean if mean > 0 else float("inf")


def level_trains(times: Floats, cumulative: Floats, level: float) -> list[PhaseTrain]:
    """Return the sets of at least four phases over one level that stand out most, at most `MOST_CANDIDATES`.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume; a time may occur twice where volume moves in no time.
    level : float
        θ, in the signal's unit.

    Returns
    -------
    list of PhaseTrain
        By contrast, largest first; each number of phases once.
    """
    from .persistence import persistences, rises_above, turning_points

    path = cumulative - level * (times - times[0])
    rows = turning_points(path)
    turns = path[rows]
    sizes = persistences(turns)
    sizes = sizes[sizes > 1e-9 * (np.ptp(turns) + 1e-3 * abs(cumulative[-1] - cumulative[0]))]
    if sizes.size < FEWEST_PHASES:
        return []
    bound = SMALLEST_SHARE * sizes[FEWEST_PHASES - 1]
    sizes = np.append(sizes[sizes > bound], bound)
    contrasts = sizes[:-1] / sizes[1:]
    # Entry j parts the set of j + 1 rises from that of j + 2.
    order = np.argsort(-contrasts[FEWEST_PHASES - 1 :], kind="stable")[:MOST_CANDIDATES] + FEWEST_PHASES - 1
    trains = []
    for row in order:
        feet, tops = rises_above(turns, float(np.sqrt(sizes[row] * sizes[row + 1])))
        if feet.size < FEWEST_PHASES:
            continue
        foot, top = rows[feet], rows[tops]
        moved = np.append(cumulative[foot], cumulative[-1])
        trains.append(
            PhaseTrain(
                times[foot], times[top], cumulative[top] - cumulative[foot], np.diff(moved), float(contrasts[row])
            )
        )
    return trains


def levels(times: Floats, cumulative: Floats) -> list[float]:
    """Return the levels to look for phases over: the mean rate while there is I/O at all, and two lower ones.

    The mean is taken from the first to the last volume, so that idle time before and after does not lower it. A few
    large phases can lift it over all others; each lower level is the mean of the signal clipped at the level before,
    θ' = 1/T ∫ min(x, θ) dt.
    """
    steps, volumes = np.diff(times), np.diff(cumulative)
    busy = np.flatnonzero(volumes > 0)
    if busy.size == 0:
        return []
    extent = slice(busy[0], busy[-1] + 1)
    steps, volumes = steps[extent], volumes[extent]
    duration = float(steps.sum())
    if duration <= 0:
        return []
    found = [float(volumes.sum()) / duration]
    for _ in range(LOWER_LEVELS):
        lower = float(np.minimum(volumes, found[-1] * steps).sum()) / duration
        # Volume that moved in no time is gone after the first clipping.
        if lower < LOWEST_LEVEL * found[0]:
            break
        found.append(lower)
    return found


def candidate_trains(times: Floats, cumulative: Floats) -> list[PhaseTrain]:
    """Return the sets of phases that stand out over any of the `levels`, each set of starts once.

    Sets that lie within a tenth of the window are left out: seen from the whole, they are the operations of one burst.
    """
    shortest = SHORTEST_EXTENT * float(times[-1] - times[0])
    trains: dict[bytes, PhaseTrain] = {}
    for level in levels(times, cumulative):
        for train in level_trains(times, cumulative, level):
            if train.end[-1] - train.start[0] < shortest:
                continue
            known = trains.get(train.start.tobytes())
            if known is None or known.contrast < train.contrast:
                trains[train.start.tobytes()] = train
    return list(trains.values())


def least_variation(train: PhaseTrain) -> float:
    """Return the variation of the phases' bytes or of the bytes from start to start, whichever is less."""
    return min(variation(train.bytes), variation(train.cycle_bytes[:-1]))


def few_phases(times: Floats, cumulative: Floats) -> PhaseTrain | None:
    """Return the phases over the mean rate that reach a twentieth of the largest, where there may be fewer than four.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume.

    Returns
    -------
    PhaseTrain or None
        None where the signal never leaves its mean.
    """
    from .persistence import persistences, rises_above

    if cumulative.size < 2 or not cumulative[-1] > cumulative[0]:
        return None
    # The mean of the whole window, so that idle time at its edges tells a burst from a constant.
    path = cumulative - float(cumulative[-1] - cumulative[0]) / float(times[-1] - times[0]) * (times - times[0])
    sizes = persistences(path)
    # Rounding makes a path that is flat wander a little.
    if sizes.size == 0 or sizes[0] <= 1e-9 * float(cumulative[-1] - cumulative[0]):
        return None
    foot, top = rises_above(path, 0.05 * float(sizes[0]))
    moved = np.append(cumulative[foot], cumulative[-1])
    return PhaseTrain(times[foot], times[top], cumulative[top] - cumulative[foot], np.diff(moved), 1.0)


def alikeness(train: PhaseTrain) -> float:
    """Return how well a set of phases describes a signal; the largest is to be taken.

    The sum of ln contrast (up to 20: wider steps say no more), −2 ln of the least variation and −½ ln of the variation
    of the intervals. The least variation is that of the intervals, of the phases' bytes, or of the bytes from start to
    start: where one phase is split or two are joined, all three are large. Few phases are alike by chance, so 0.3 over
    the number of intervals is added to the last term.
    """
    spread = variation(train.intervals)
    least = min(spread, least_variation(train))
    count = len(train) - 1
    luck = 0.05 + 0.3 / count
    return float(min(np.log(train.contrast), np.log(20.0)) - 2 * np.log(least + luck) - 0.5 * np.log(spread + luck))


def sharpened(train: PhaseTrain, times: Floats, cumulative: Floats) -> PhaseTrain:
    """Move the boundaries of phases to where the signal crosses a quarter of their height.

    Over one level for all, a phase begins with the first rate above it, and a little noise before a phase can count as
    its beginning. With the mean rate b of the gap before, m of the phase itself and θ = b + (m - b) / 4, the phase
    begins where V(t) - θ t is least between the end of the phase before and its own, and ends where that is largest
    until the next begins. A phase of which more than a quarter would be cut off keeps its boundaries.

    Parameters
    ----------
    train : PhaseTrain
        Phases of the path.
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume.

    Returns
    -------
    PhaseTrain
        As many phases, each between the neighbours it had. Unchanged where a phase has no length.
    """
    from .persistence import lowest_rows

    foot = np.searchsorted(times, train.start, side="left")
    top = np.searchsorted(times, train.end, side="right") - 1
    # Of two vertices at one time the first is before the volume that moves there; the path's foot is before it.
    length = times[top] - times[foot]
    if len(train) == 0 or bool(np.any(length <= 0)) or bool(np.any(top <= foot)):
        return train
    before = np.concatenate(([0], top[:-1]))
    after = np.concatenate((foot[1:], [times.size - 1]))
    gap = times[foot] - times[before]
    height = (cumulative[top] - cumulative[foot]) / length
    floor = np.where(gap > 0, (cumulative[foot] - cumulative[before]) / np.where(gap > 0, gap, 1.0), 0.0)
    level = np.where(floor < height, floor + LEVEL_SHARE * (height - floor), 0.0)
    start = lowest_rows(times, cumulative, before, top, level)
    end = lowest_rows(-times, -cumulative, start + 1, after + 1, level)
    # What is cut off is noise beside the phase, not a part of it.
    cut = np.maximum(cumulative[start] - cumulative[foot], cumulative[top] - cumulative[end])
    kept = (level > 0) & (end > start) & (cut <= LARGEST_CUT * (cumulative[top] - cumulative[foot]))
    start, end = np.where(kept, start, foot), np.where(kept, end, top)
    if bool(np.any(np.diff(times[start]) <= 0)):
        return train
    moved = np.append(cumulative[start], cumulative[-1])
    return replace(
        train,
        start=times[start],
        end=times[end],
        bytes=cumulative[end] - cumulative[start],
        cycle_bytes=np.diff(moved),
    )
