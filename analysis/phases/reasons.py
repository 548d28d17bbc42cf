"""The reason of a verdict, in words."""

from ...model.quantities import seconds_text, spaced
from .decision import MOST_JITTER
from .trains import FEWEST_PHASES, PhaseTrain
from .verdict import Verdict


def reason(verdict: Verdict, window: tuple[float, float]) -> str:
    """Return one sentence or two that say why the verdict is what it is.

    Parameters
    ----------
    verdict : Verdict
        Of the signal.
    window : (float, float)
        Start and end of the signal in s.
    """
    if verdict.core is None or verdict.recurrence is None or verdict.jitter is None:
        return few(0 if verdict.phases is None else len(verdict.phases))
    core = verdict.core
    aside = _aside(verdict)
    if verdict.kind == "clock":
        text = f"{len(core)} bursts, {spaced(verdict.recurrence, verdict.jitter)}{_missing(verdict, window)}{aside}"
        return f"{text}; more regular than chance, {_level(verdict.p_value)}.{_further(verdict)}"
    if verdict.kind == "clock with gaps" and verdict.period is not None:
        text = f"{len(core)} bursts, {seconds_text(verdict.period.period, 4)} apart or a multiple of it"
        text += f": {verdict.missing} missing between them"
        return f"{text}{aside}; more regular than chance, {_level(verdict.p_value)}.{_further(verdict)}"
    if verdict.kind == "regimes":
        parts = [f"{seconds_text(stay.period, 4)} apart from {stay.start:.4g} s on" for stay in verdict.stays]
        text = f"{len(core)} bursts in {len(parts)} regimes: " + ", ".join(parts)
        return (
            f"{text}{aside}; each more regular than chance, {_level(verdict.p_value)}. The period is the longest one's."
        )
    if verdict.kind == "several clocks":
        parts = [f"{seconds_text(clock.estimate.period, 4)} ({clock.phases} bursts)" for clock in verdict.clocks]
        listed = " and ".join(parts)
        clocks = "One clock" if len(parts) == 1 else f"{len(parts)} clocks at the same time"
        return f"{clocks} among {len(core)} bursts: {listed}; more regular than chance, {_level(verdict.p_value)}."
    return _irregular(verdict, core, aside)


def few(bursts: int) -> str:
    """Return the reason where there are fewer than four bursts."""
    if bursts == 0:
        return "The signal never leaves its mean: no bursts."
    count = "1 burst" if bursts == 1 else f"{bursts} bursts"
    if bursts < FEWEST_PHASES:
        return f"{count}: a period needs at least four."
    return (
        f"{bursts} bursts, all within a tenth of the window: parts of one. Choose a window around them to look closer."
    )


def _irregular(verdict: Verdict, core: PhaseTrain, aside: str) -> str:
    text = f"{len(core)} bursts, {seconds_text(verdict.recurrence or 0.0, 4)} apart on average{aside}"
    if (verdict.jitter or 0.0) > MOST_JITTER:
        return (
            f"Recurring but irregular: {text}, with a jitter of {verdict.jitter:.2f}; up to {MOST_JITTER} is periodic."
        )
    return f"Recurring, but it may be chance: {text}, jitter {verdict.jitter:.2f}, {_level(verdict.p_value)}."


def _aside(verdict: Verdict) -> str:
    ends = [name for name, count in (("first", verdict.at_start), ("last", verdict.at_end)) if count]
    if not ends:
        return ""
    kind = {"first": "start-up", "last": "shut-down"}[ends[0]] if len(ends) == 1 else "start-up and shut-down"
    return f", the {' and the '.join(ends)} one set apart as {kind} I/O"


def _missing(verdict: Verdict, window: tuple[float, float]) -> str:
    if verdict.core is None or verdict.period is None:
        return ""
    silent = (window[1] - float(verdict.core.start[-1])) / verdict.period.period - 1
    if silent < 1:
        return ""
    return ", last one missing" if silent < 2 else f", none in the last {seconds_text(silent * verdict.period.period)}"


def _further(verdict: Verdict) -> str:
    parts = []
    if verdict.cycle is not None:
        parts.append(f" Sizes repeat after {verdict.cycle} bursts.")
    others = [clock for clock in verdict.clocks if clock.estimate != verdict.period]
    if verdict.cycle is not None and verdict.period is not None:
        others = [c for c in others if abs(c.estimate.period / (verdict.cycle * verdict.period.period) - 1) > 1e-9]
    if others:
        parts.append(" Beside them: " + ", ".join(f"every {seconds_text(c.estimate.period, 4)}" for c in others) + ".")
    return "".join(parts)


def _level(p_value: float) -> str:
    return f"p = {p_value:.1g}" if p_value >= 1e-6 else "p < 1e-6"
