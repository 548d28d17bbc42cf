"""Judges one answer by the truth of its input."""

from typing import Any

import numpy as np
from inputs.signal_input import Floats, SignalInput, TrueRegime, Truth
from methods import Answer, StatedRegime

#: A period is found within this share of the truth, and wrong beyond the other.
FOUND, WRONG = 0.05, 0.10
#: Of two concurrent periods each must be this close; those of ratio 1.1 would else be one.
CONCURRENT = 0.02
#: Boundaries are right within this many periods: one, and the jitter of the interval that leads there. The last phase
#: of a regime may as well be the first of the next where the time between them happens to be the next one's period.
BOUNDARY = 1.25
#: A phase is found where one begins within this share of the period.
PHASE = 0.1
#: A verdict has changed where its period has, by more than this share.
SAME = 0.02


def deviation(period: float, truths: tuple[float, ...]) -> float:
    """Return the relative deviation from the nearest of the true periods in s."""
    return min((abs(period / true - 1) for true in truths), default=float("inf"))


def judge(answer: Answer, given: SignalInput, family: str) -> dict[str, Any]:
    """Return the scores of an answer; None where a score does not apply.

    ``found`` and ``wrong`` are of the main period, except for regimes: there all must be right, and one that is wrong
    where it is said to hold suffices for ``wrong``. On a signal without a period whatever is stated is wrong.
    """
    truth = given.truth
    looked_for = truth.periods + truth.also_found
    stated = answer.period is not None
    off = deviation(answer.period, looked_for + truth.not_wrong) if answer.period is not None else None
    row: dict[str, Any] = {
        "stated": stated,
        "confidence": answer.confidence,
        "seconds": answer.seconds,
        "found": answer.period is not None and deviation(answer.period, looked_for) <= FOUND,
        "wrong": off is not None and off > WRONG,
        "right": None if off is None else off <= WRONG,
        "split": len(answer.regimes) > 1,
        "error": None if answer.estimate is None or not truth.periods else deviation(answer.estimate, looked_for),
    }
    if family == "regimes":
        row |= judge_regimes(answer, truth)
    if family == "concurrent":
        both = all(deviation(true, answer.periods) <= CONCURRENT for true in truth.periods)
        main = answer.period is not None and deviation(answer.period, truth.periods) > FOUND
        row |= {"found": stated and both, "wrong": main, "first": stated and off is not None and _first(answer, truth)}
    if stated and truth.bounded and answer.phase_bytes is not None:
        moved = float(given.volume.sum())
        row["outside"] = 1 - float(answer.phase_bytes.sum()) / moved
    if row["found"] and truth.phase_bytes is not None:
        row["volumes"] = volume_ratios(answer, truth)
    if stated and truth.bounded and truth.phase_start is not None and answer.phase_start is not None:
        row["f1"] = phase_f1(answer.phase_start, truth.phase_start, PHASE * min(looked_for))
    if truth.law is not None and answer.interval is not None:
        row["covered"] = answer.interval[0] <= truth.law <= answer.interval[1]
    if truth.pause is not None:
        row["pause"] = answer.pause is not None and abs(answer.pause / truth.pause - 1) <= FOUND
    if truth.drift:
        row["drift"] = answer.drift is not None and answer.drift * truth.drift > 0
    return row


def _first(answer: Answer, truth: Truth) -> bool:
    return answer.period is not None and abs(answer.period / truth.periods[0] - 1) <= CONCURRENT


def judge_regimes(answer: Answer, truth: Truth) -> dict[str, Any]:
    """Return whether number, periods and boundaries of regimes are right, all three, and whether one is wrong."""
    stated = answer.regimes if answer.period is not None else ()
    expected = truth.regimes
    if truth.merged and len(stated) == 1:
        whole = expected[0]
        expected = (TrueRegime(whole.start, expected[-1].last, whole.period, whole.phase_bytes),)
    number = len(stated) == len(expected)
    pairs = list(zip(stated, expected, strict=True)) if number else []
    periods = number and all(abs(said.period / true.period - 1) <= FOUND for said, true in pairs)
    places = number and all(_placed(said, true) for said, true in pairs)
    wrong = any(deviation(said.period, _shared(said, truth.regimes)) > WRONG for said in stated)
    each = [
        (said.confidence, deviation(said.period, _shared(said, truth.regimes)) <= WRONG)
        for said in stated
        if len(stated) > 1 and said.confidence is not None
    ]
    return {"each regime": each, "count": number, "boundaries": places, "found": periods and places, "wrong": wrong}


def _placed(said: StatedRegime, true: TrueRegime) -> bool:
    """Whether a regime begins within a period of its first phase, and ends within one of its last interval."""
    slack = BOUNDARY * true.period
    return abs(said.start - true.start) <= slack and true.last - slack <= said.end <= true.last + true.period + slack


def _shared(said: StatedRegime, regimes: tuple[TrueRegime, ...]) -> tuple[float, ...]:
    """Return the period of the true regime with which a stated one shares most time."""
    shared = [min(said.end, one.last + one.period) - max(said.start, one.start) for one in regimes]
    return (regimes[int(np.argmax(shared))].period,)


def volume_ratios(answer: Answer, truth: Truth) -> list[float]:
    """Return volume per period over true mean volume of phases: of each regime that tells its own, or of the window."""
    own = [one.volume_per_period for one in answer.regimes]
    if len(own) == len(truth.regimes) and all(volume is not None for volume in own):
        pairs = zip(own, truth.regimes, strict=True)
        return [float(volume) / true.phase_bytes for volume, true in pairs if volume is not None]
    if answer.volume_per_period is None or truth.phase_bytes is None:
        return []
    return [answer.volume_per_period / float(truth.phase_bytes.mean())]


def phase_f1(said: Floats, true: Floats, slack: float) -> float:
    """Return F1 of phase starts, matched one to one within `slack` s in the order of time."""
    matched = row = 0
    for start in true:
        while row < said.size and said[row] < start - slack:
            row += 1
        if row < said.size and said[row] <= start + slack:
            matched += 1
            row += 1
    return 2 * matched / max(said.size + true.size, 1)


def verdict_changed(one: Answer, other: Answer) -> bool:
    """Whether two answers differ in having a period, in its length or in the number of regimes."""
    if (one.period is None) != (other.period is None):
        return True
    if one.period is None or other.period is None:
        return False
    return abs(one.period / other.period - 1) > SAME or len(one.regimes) != len(other.regimes)
