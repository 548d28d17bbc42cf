"""What a period detection gives back: frozen records, plain dictionaries for JSON, readable forms for people."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

from ...model.display import html_table
from ...model.document import Record
from ...model.errors import import_library
from .evidence import Evidence
from .parts import Period, PeriodMetrics, Phase, Regime, SamplingInfo

__all__ = ["Period", "PeriodMetrics", "PeriodResult", "Phase", "Regime", "SamplingInfo"]


CERTAIN, KNOWN = 0.9, 0.1
"""Least confidence in a period that is certain, and half of its interval at most, as a share of it."""


def is_certain(confidence: float, error: float) -> bool:
    """Tell whether a period is certain, given how sure of it one is and half of its interval, as a share of it."""
    return confidence >= CERTAIN and error <= KNOWN


def fewest_more(settles: Callable[[int], bool], most: int) -> int:
    """Return the fewest more bursts that make a period certain, as `settles` tells of a number; `most` if none do."""
    # Few of the intervals again may vary more than all of them do.
    return 0 if settles(0) else bisect_left(range(most), True, lo=1, key=settles)


class PeriodResult(Record, kw_only=True, repr=False):
    """The verdict of one method on one signal; `to_dict` gives its entry in the document of ``iostrata periods``.

    Attributes
    ----------
    method : str
        Name of the method.
    periodic : bool
        Whether the method names a period.
    period, frequency : float or None
        Strongest period in s, and its inverse in Hz; None where ``periodic`` is False.
    period_interval : (float, float) or None
        Uncertainty of the period, in s.
    confidence : float
        In [0, 1]: how sure the method is of the period that it names; 0 where it names none.
    grade : str
        "certain" where the confidence is at least 0.9 and the interval within a tenth of the period, else "probable";
        "none" without a period.
    recurrence, jitter : float or None
        Mean time between the starts of phases in s, and its coefficient of variation; from four phases on.
    periods : tuple of Period
        All periods that hold at the same time, the strongest first.
    phases : tuple of Phase
        Bursts of substantial I/O in the order of time.
    regimes : tuple of Regime
        Stretches of the run with one period.
    metrics : PeriodMetrics
        How well the period describes the signal.
    sampling : SamplingInfo
        How the signal was sampled.
    reason : str
        One sentence: why the verdict is what it is.
    evidence : Evidence
        What the verdict rests on; see `iostrata.analysis.results`.
    """

    ENTRIES: ClassVar = ("periodic", "grade", "period", "period_interval", "frequency", "confidence", ...)

    recurrence: float | None
    jitter: float | None
    periods: tuple[Period, ...]
    method: str
    phases: tuple[Phase, ...]
    regimes: tuple[Regime, ...]
    metrics: PeriodMetrics
    sampling: SamplingInfo
    evidence: Evidence = field(default_factory=Evidence)
    reason: str

    @property
    def periodic(self) -> bool:
        """Whether the method names a period."""
        return len(self.periods) > 0

    @property
    def period(self) -> float | None:
        """Strongest period in s."""
        return self.periods[0].period if self.periods else None

    @property
    def period_interval(self) -> tuple[float, float] | None:
        """Uncertainty of the period, in s."""
        return self.periods[0].period_interval if self.periods else None

    @property
    def frequency(self) -> float | None:
        """Inverse of the period, in Hz."""
        return 1.0 / self.periods[0].period if self.periods else None

    @property
    def confidence(self) -> float:
        """How sure the method is of the period that it names, in [0, 1]; 0 where it names none."""
        return self.periods[0].confidence if self.periods else 0.0

    @property
    def grade(self) -> str:
        """How sure, in a word: "certain", "probable" or "none"."""
        if not self.periods:
            return "none"
        low, high = self.periods[0].period_interval
        return "certain" if is_certain(self.confidence, 0.5 * (high - low) / self.periods[0].period) else "probable"

    @property
    def on_bins(self) -> bool:
        """Whether the verdict is on bins, and not on the exact signal."""
        return self.sampling.fs is not None

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` with ``start_s``, ``end_s`` and ``volume``, one row a phase; needs pandas."""
        pandas = import_library("pandas")
        rows = [(phase.start, phase.end, phase.volume) for phase in self.phases]
        return pandas.DataFrame(rows, columns=["start_s", "end_s", "volume"])

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw phases as shaded stretches and the period as dashed lines from the first phase on; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Such as that of ``signal.plot()``, whose time it shares; a new figure without it.
        **kwargs
            For ``Axes.axvspan`` of the phases.
        """
        from .plots import draw_phases, verdict_text

        title = verdict_text(self.period, self.regimes)
        if self.periodic:
            title += f", confidence {self.confidence:.2f}"
        return draw_phases(ax, self.phases, self.regimes, title, **kwargs)

    def plot_regimes(self, ax: Any = None, **kwargs: Any) -> Any:
        """Shade the regimes, each named by its period and its confidence where there is room; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Such as that of ``signal.plot()``, whose time it shares; a new figure without it.
        **kwargs
            For ``Axes.axvspan``.
        """
        from .plots import draw_regimes

        return draw_regimes(ax, self.regimes, **kwargs)

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("method", self.method)]
        if self.period is not None and self.period_interval is not None:
            low, high = self.period_interval
            rows.append(("period", f"{self.period:.6g} s [{low:.6g}, {high:.6g}]"))
        else:
            rows.append(("period", "none"))
        if self.periodic or self.confidence > 0:
            rows.append(("confidence", f"{self.confidence:.3f}"))
        if self.recurrence is not None and self.jitter is not None:
            rows.append(("recurrence", f"{self.recurrence:.6g} s, jitter {self.jitter:.3g}"))
        if len(self.periods) > 1:
            rows.append(("other periods", ", ".join(f"{other.period:.6g} s" for other in self.periods[1:])))
        if len(self.regimes) > 1:
            rows.extend(
                ("regime", f"{one.start:.6g} to {one.end:.6g} s: every {one.period:.6g} s") for one in self.regimes
            )
        rows.append(("phases", str(len(self.phases))))
        if self.on_bins:
            rows.append(("sampling", f"{self.sampling.samples} bins at {self.sampling.fs:.6g} Hz"))
        rows.append(("reason", self.reason))
        return rows

    def __repr__(self) -> str:
        return f"PeriodResult({'; '.join(f'{name}: {text}' for name, text in self._rows())})"

    def _repr_html_(self) -> str:
        return html_table(self._rows())
