"""How the verdict on a signal is drawn over its time; needs matplotlib."""

from collections.abc import Iterable, Sequence
from typing import Any

from ...model.display import axes_for
from ...model.quantities import seconds_text
from .parts import Phase, Regime

MOST_LINES = 10_000
SHADES = ("tab:blue", "tab:orange")
"""Colours of regimes, in turns."""
NARROWEST = 0.12
"""Share of the axes' time below which a regime is not named."""


def draw_phases(ax: Any, phases: Iterable[Phase], regimes: Iterable[Regime], title: str, **kwargs: Any) -> Any:
    """Draw phases as shaded stretches and the period as dashed lines from the first phase of each regime on."""
    ax = axes_for(ax, "time (s)")
    kwargs = {"color": "tab:green", "alpha": 0.25, "linewidth": 0, **kwargs}
    for number, phase in enumerate(phases):
        ax.axvspan(phase.start, phase.end, label=None if number else "phases", **kwargs)
    first_label: str | None = "period"
    for regime in regimes:
        inside = [phase.start for phase in phases if regime.start <= phase.start <= regime.end]
        time = inside[0] if inside else regime.start
        for _ in range(min(MOST_LINES, int((regime.end - time) / regime.period) + 1)):
            ax.axvline(time, color="tab:purple", linestyle="--", linewidth=1, label=first_label)
            time, first_label = time + regime.period, None
    ax.set_title(title)
    return ax


MOST_NAMED = 3
"""Regimes that are named one by one in a title."""


def verdict_text(period: float | None, regimes: Sequence[Regime]) -> str:
    """Name a period with the stretch in which it holds, each regime with its own where there are several."""
    if period is None:
        return "no period"
    if len(regimes) < 2:
        stretch = f" from {_stretch(regimes[0])}" if regimes else ""
        return f"every {seconds_text(period)}{stretch}"
    if len(regimes) > MOST_NAMED:
        longest = max(regimes, key=lambda one: one.end - one.start)
        return f"{len(regimes)} regimes, the longest every {seconds_text(longest.period)} from {_stretch(longest)}"
    return ", then ".join(f"every {seconds_text(one.period)} from {_stretch(one)}" for one in regimes)


def _stretch(regime: Regime) -> str:
    return f"{seconds_text(regime.start)} to {seconds_text(regime.end)}"


def regime_text(regime: Regime) -> str:
    """Name a regime by its period, with its confidence where it has one."""
    sure = "" if regime.confidence is None else f"\nconfidence {regime.confidence:.2f}"
    return f"every {regime.period:.4g} s{sure}"


def draw_regimes(ax: Any, regimes: Iterable[Regime], **kwargs: Any) -> Any:
    """Shade regimes in two colours by turns, and name each by its period at its top where there is room."""
    ax = axes_for(ax, "time (s)")
    chosen = tuple(regimes)
    for number, regime in enumerate(chosen):
        shade = {"color": SHADES[number % len(SHADES)], "alpha": 0.12, "linewidth": 0, **kwargs}
        ax.axvspan(regime.start, regime.end, **shade)
    low, high = ax.get_xlim()
    look = {"ha": "center", "va": "top", "fontsize": "small", "clip_on": True}
    for regime in chosen:
        start, end = max(regime.start, low), min(regime.end, high)
        if end - start >= NARROWEST * (high - low):
            ax.text(0.5 * (start + end), 0.97, regime_text(regime), transform=ax.get_xaxis_transform(), **look)
    return ax
