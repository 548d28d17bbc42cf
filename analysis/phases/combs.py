"""Several periods at the same time: trains of phases that interleave, and sizes that cycle."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

HARMONICS = 4
FEWEST_TEETH = 4
MOST_EVENTS = 4096
# Share of a comb's teeth that have an event, and how far events lie from them, as a share of the period.
OCCUPANCY = 0.75
TOOTH_WIDTH = 0.1
MOST_COMBS = 4
MOST_PEAKS = 24
LONGEST_CYCLE = 12
# A cycle of sizes explains this share of their variance, and sizes vary at least this much.
EXPLAINED = 0.8
SIZES_DIFFER = 0.2


@dataclass(frozen=True, eq=False)
class Comb:
    """Events at a + k T.

    Attributes
    ----------
    period : float
        T in s.
    rows : int64 (n,)
        The events on the comb's teeth, in the order of time.
    teeth : int64 (n,)
        k of each, from 0.
    residual : float
        Standard deviation of the events from the teeth, in s.
    p_value : float
        Of the comb's spectrum against events at random, corrected for the frequencies searched.
    """

    period: float
    rows: Rows
    teeth: Rows
    residual: float
    p_value: float


def find_combs(
    start: Floats, end: Floats, window: float, alpha: float, hidden: tuple[Floats, Floats] | None = None
) -> list[Comb]:
    """Find the clocks in a train of events that belong to several of them, one after the other.

    The harmonic sum S(f) = 2/n Σ_h |Σ_j exp(2πi h f t_j)|², h = 1 … 4, of n events at random is chi-squared with 8
    degrees of freedom (Z² test, Buccheri et al. 1983). The highest peaks of S are tried, and the comb with the most
    events is the clock. Its p-value, times the number of frequencies, must be below `alpha`; at least four events must
    lie within a tenth of its period from its teeth; and three quarters of the teeth that could be seen must have one.
    A tooth cannot be seen while a larger phase or one of a comb found before covers it. The events of a comb are then
    taken out, and the rest is searched again.

    Parameters
    ----------
    start, end : float64 (n,)
        Of the events, in s; increasing.
    window : float
        Length of the signal in s.
    alpha : float
        False-alarm rate.
    hidden : (float64 (m,), float64 (m,)), optional
        Starts and ends of larger phases that cover events.

    Returns
    -------
    list of Comb
        As found, the clearest first; at most four. Empty for more than 4096 events.
    """
    left = np.arange(start.size)
    covers = hidden or (np.zeros(0), np.zeros(0))
    combs: list[Comb] = []
    while FEWEST_TEETH <= left.size <= MOST_EVENTS and len(combs) < MOST_COMBS:
        comb = _strongest_comb(start[left], window, alpha, covers)
        if comb is None:
            break
        rows = left[comb.rows]
        combs.append(Comb(comb.period, rows, comb.teeth, comb.residual, comb.p_value))
        covers = (np.append(covers[0], start[rows]), np.append(covers[1], end[rows]))
        left = np.setdiff1d(left, rows)
    return combs


def _strongest_comb(start: Floats, window: float, alpha: float, covers: tuple[Floats, Floats]) -> Comb | None:
    from scipy.fft import next_fast_len, rfft
    from scipy.special import chdtrc

    n = start.size
    # Half of a clock's teeth may be covered, the others want an event. Four teeth in the window: none is slower.
    highest = 2 * n / window
    lowest = (FEWEST_TEETH - 1) / window
    if highest <= lowest:
        return None
    bins = int(np.ceil(4 * HARMONICS * highest * window)) + 1
    width = window / bins
    length = next_fast_len(4 * HARMONICS * bins, real=True)
    position = np.minimum(((start - start[0]) / width).astype(np.int64), bins - 1)
    spectrum = np.abs(rfft(np.bincount(position, minlength=bins).astype(np.float64), length)) ** 2
    step = 1.0 / (length * width)
    lines = np.arange(int(np.ceil(lowest / step)), int(highest / step) + 1)
    lines = lines[lines * HARMONICS < spectrum.size]
    if lines.size == 0:
        return None
    score = 2.0 / n * np.sum([spectrum[lines * harmonic] for harmonic in range(1, HARMONICS + 1)], axis=0)
    trials = HARMONICS * (highest - lowest) * window
    # Peaks of S, the clearest first. A clock's fractions and the beat of two clocks have peaks too; the clock itself is
    # the one with the most events on its teeth.
    inner = np.flatnonzero((score[1:-1] >= score[:-2]) & (score[1:-1] > score[2:])) + 1
    peaks = inner[np.argsort(-score[inner], kind="stable")[:MOST_PEAKS]]
    best: Comb | None = None
    for peak in peaks:
        p_value = min(1.0, trials * float(chdtrc(2 * HARMONICS, float(score[peak]))))
        if p_value > alpha:
            break
        comb = _comb_at(start, 1.0 / float(lines[peak] * step), p_value, covers)
        if comb is not None and (best is None or comb.rows.size > best.rows.size):
            best = comb
    return best


def _comb_at(start: Floats, period: float, p_value: float, covers: tuple[Floats, Floats]) -> Comb | None:
    origin = float(np.angle(np.exp(2j * np.pi * start / period).mean()) / (2 * np.pi) * period)
    for tolerance in (0.3, 0.2, TOOTH_WIDTH, TOOTH_WIDTH):
        teeth = np.rint((start - origin) / period).astype(np.int64)
        distance = np.abs(start - origin - teeth * period)
        rows = np.flatnonzero(distance <= tolerance * period)
        # One event a tooth, the nearest.
        rows = rows[np.lexsort((distance[rows], teeth[rows]))]
        rows = rows[np.concatenate(([True], np.diff(teeth[rows]) > 0))] if rows.size else rows
        if rows.size < FEWEST_TEETH:
            return None
        slope, origin = (float(value) for value in np.polyfit(teeth[rows].astype(np.float64), start[rows], 1))
        if slope <= 0:
            return None
        period = slope
    rows = np.sort(rows)
    held = np.arange(int(teeth[rows[0]]), int(teeth[rows[-1]]) + 1)
    # The comb must have held from the first to the last event, but for one period and a half at the edges.
    if (held.size + 3) * period < start[-1] - start[0]:
        return None
    empty = np.setdiff1d(held, teeth[rows])
    seen = rows.size + int(
        np.count_nonzero(~_covered(origin + empty.astype(np.float64) * period, TOOTH_WIDTH * period, covers))
    )
    if rows.size < OCCUPANCY * seen or 2 * rows.size < held.size:
        return None
    residual = float((start[rows] - origin - teeth[rows] * period).std())
    return Comb(period, rows, teeth[rows] - teeth[rows[0]], residual, p_value)


def _covered(times: Floats, margin: float, covers: tuple[Floats, Floats]) -> npt.NDArray[np.bool_]:
    begins, ends = np.sort(covers[0]) - margin, np.sort(covers[1]) + margin
    return np.asarray(np.searchsorted(begins, times, side="right") > np.searchsorted(ends, times, side="left"))


def size_cycle(sizes: Floats, alpha: float) -> int | None:
    """Return after how many phases their sizes repeat, as in large - small - small; None where they do not.

    For each cycle length L from 2 to 12 the phases are sorted into L classes, and an F-test asks whether the logarithms
    of the sizes differ between classes (analysis of variance), corrected for the number of lengths. The shortest
    significant cycle counts that explains 80 % of the variance and within a twentieth of what the best explains.

    Parameters
    ----------
    sizes : float64 (n,)
        Bytes of each phase in the order of time.
    alpha : float
        False-alarm rate.
    """
    from scipy.special import fdtrc

    n = sizes.size
    if n < 2 * FEWEST_TEETH or not bool(np.all(sizes > 0)):
        return None
    logs = np.log(sizes)
    if float(logs.std()) < SIZES_DIFFER:
        return None
    total = float(((logs - logs.mean()) ** 2).sum())
    lengths = np.arange(2, min(LONGEST_CYCLE, n // 3) + 1)
    explained = np.zeros(lengths.size)
    significant = np.zeros(lengths.size, bool)
    for row, length in enumerate(lengths):
        kind = np.arange(n) % length
        count = np.bincount(kind)
        within = total - float((np.bincount(kind, logs - logs.mean()) ** 2 / count).sum())
        explained[row] = 1 - max(within, 0.0) / total
        ratio = (total - within) / (length - 1) / max(within / (n - length), 1e-12 * total)
        significant[row] = lengths.size * float(fdtrc(length - 1, n - length, ratio)) < alpha
    good = significant & (explained >= max(EXPLAINED, float(explained.max()) - 0.05))
    return int(lengths[np.argmax(good)]) if bool(good.any()) else None
