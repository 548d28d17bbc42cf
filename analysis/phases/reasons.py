"""The reason of a decision, in words."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...model.quantities import percent_text, seconds_text
from .bursts import FEWEST_BURSTS
from .decision import Decision
from .phases import Phases
from .stretches import MOST_JITTER, PulseTrain


def prospect(period: float, interval: tuple[float, float], times: int, more: int) -> str:
    """Return a sentence on a period that is probable only, with its interval and what would settle it; else nothing.

    `more` is how many more times would; none where it is certain; more than twice as many as came are none.
    """
    if more <= 0:
        return ""
    text = f"About every {seconds_text(period)} ({' … '.join(map(seconds_text, interval))}), {times} times"
    return f"{text}; {more} more would settle it. " if more <= 2 * times else f"{text}. "


def reason(decision: Decision, phases: Phases, chosen: str = "the clear regime that moved most") -> str:
    """Return one sentence or two with the reason of a decision.

    Parameters
    ----------
    decision : Decision
        On a signal.
    phases : Phases
        All of it.
    chosen : str
        Which of several regimes the period is that of.
    """
    if decision.line is not None:
        period, p_value = decision.line
        text = f"A period of {seconds_text(period, 4)} stands out of the noise in the spectrum, p = {p_value:.1g}"
        return f"{text}; its single phases are lost in the noise."
    count = len(phases.bursts)
    if not decision.trains:
        return _irregular(phases) if decision.kind == "irregular" else _few(count)
    main = decision.main
    sure = f"more regular than chance, Bayes factor 10^{min(main.gain / math.log(10), 999):.0f}"
    if decision.kind == "regimes":
        text = f"{count} phases in {len(decision.trains)} regimes: {', '.join(_rows(decision.trains))}"
        return f"{text}; the main one is {sure}. The period is that of {chosen}."
    if decision.kind == "concurrent":
        parts = [f"{seconds_text(one.period, 4)} ({len(one.bursts)} phases)" for one in decision.trains]
        return f"{len(parts)} periods at the same time among {count} phases: {' and '.join(parts)}; {sure}."
    further = f" Sizes repeat after {decision.cycle} phases." if decision.cycle else ""
    further += f" From each end to the next start {seconds_text(phases.pause, 4)} pass." if phases.pause else ""
    return f"{_train(main, count)}; {sure}.{further}"


def _rows(trains: Sequence[PulseTrain]) -> Iterator[str]:
    """Yield what is said of each train, of those in a row that have one period, with pauses between them, once."""
    first = [row for row in range(len(trains)) if row == 0 or not trains[row - 1].alike(trains[row])]
    for row, after in pairwise([*first, len(trains)]):
        several = f" in {after - row} of them" if after > row + 1 else ""
        yield f"{seconds_text(trains[row].period, 4)} apart from {trains[row].start:.4g} s on{several}"


def _train(train: PulseTrain, phases: int) -> str:
    of_all = f" of {phases}" if len(train.bursts) < phases else ""
    text = f"{len(train.bursts)}{of_all} phases, {seconds_text(train.period, 4)} apart"
    if train.drift:
        return f"{text} on average, drifting from {' to '.join(map(seconds_text, train.ends))}"
    if train.missing:
        return f"{text} or a multiple of it, {train.missing} missing between them"
    if delayed := train.spans.size - train.intervals.size:
        return f"{text} where nothing delays them, {delayed} delayed"
    return f"{text}, jitter {percent_text(train.jitter)}"


def _few(bursts: int) -> str:
    if bursts >= FEWEST_BURSTS:
        return f"{bursts} phases, in bins that are too coarse: a period needs at least four bins, and four phases."
    few = f"{bursts} phase{'s' if bursts > 1 else ''}: a period needs at least four."
    return few if bursts else "The signal never leaves its mean: no phases."


def _irregular(phases: Phases) -> str:
    mean, jitter = seconds_text(phases.recurrence or 0.0, 4), phases.jitter or 0.0
    text = f"{len(phases.bursts)} phases, {mean} apart on average, jitter {jitter:.2f}"
    if jitter > MOST_JITTER:
        return f"Recurring but irregular: {text}; up to {MOST_JITTER} is periodic."
    return f"Recurring, but it may be chance: {text}."
