"""What a period detection gives back: frozen records, plain dictionaries for JSON, readable forms for people."""

from dataclasses import dataclass, field
from html import escape
from typing import Any, TypedDict

from ...model.document import Plain, plain
from ...model.errors import import_library
from .evidence import Evidence
from .parts import Period, PeriodMetrics, Phase, Regime, SamplingInfo

__all__ = ["Period", "PeriodMetrics", "PeriodResult", "Phase", "Plain", "Regime", "SamplingInfo", "plain"]


class MainPeriod(TypedDict):
    """The fields of a result that its periods decide."""

    periodic: bool
    period: float | None
    period_interval: tuple[float, float] | None
    frequency: float | None
    confidence: float
    periods: tuple[Period, ...]


def main_period(periods: tuple[Period, ...]) -> MainPeriod:
    """Return the fields of a `PeriodResult` that follow from its periods, of which the first is the main one."""
    main = periods[0] if periods else None
    return {
        "periodic": main is not None,
        "period": main.period if main else None,
        "period_interval": main.period_interval if main else None,
        "frequency": 1.0 / main.period if main else None,
        "confidence": main.confidence if main else 0.0,
        "periods": periods,
    }


@dataclass(frozen=True, repr=False)
class PeriodResult:
    """The verdict of one method on one signal.

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
        In [0, 1]: how sure the method is of the period it names. Where it names none, ``auto`` gives its confidence in
        the recurrence, if there is one; else it is 0.
    recurrence, jitter : float or None
        Mean time between the starts of phases in s, and its coefficient of variation; from four phases on.
    periods : tuple of Period
        All periods that hold at the same time, the strongest first.
    phases : tuple of Phase
        Bursts of substantial I/O in the order of time.
    regimes : tuple of Regime
        Stretches of the run with one period.
    metrics : PeriodMetrics or None
        How well the period describes the signal.
    sampling : SamplingInfo
        How the signal was sampled.
    reason : str
        One sentence that says why the verdict is what it is.
    evidence : Evidence
        What else the method has to say for its verdict; see `iostrata.analysis.results`.
    """

    method: str
    periodic: bool
    period: float | None
    period_interval: tuple[float, float] | None
    frequency: float | None
    confidence: float
    recurrence: float | None
    jitter: float | None
    periods: tuple[Period, ...]
    phases: tuple[Phase, ...]
    regimes: tuple[Regime, ...]
    metrics: PeriodMetrics | None
    sampling: SamplingInfo
    reason: str
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def on_bins(self) -> bool:
        """Whether the verdict is on bins, and not on the exact signal."""
        return self.sampling.fs is not None

    def to_dict(self) -> dict[str, Plain]:
        """Give the verdict as it stands in the document of ``iostrata periods --json``.

        Returns
        -------
        dict
            Python's own types only; None where a number is not defined. The metrics keep their keys when there
            are none.
        """
        metrics = self.metrics if self.metrics is not None else PeriodMetrics(r_io=None, b_io=None)
        return {
            "periodic": plain(self.periodic),
            "period_s": plain(self.period),
            "period_interval_s": plain(self.period_interval),
            "frequency_hz": plain(self.frequency),
            "confidence": plain(self.confidence),
            "recurrence_s": plain(self.recurrence),
            "jitter": plain(self.jitter),
            "periods": [period.to_dict() for period in self.periods],
            "method": self.method,
            "phases": [phase.to_dict() for phase in self.phases],
            "regimes": [regime.to_dict() for regime in self.regimes],
            "metrics": metrics.to_dict(),
            "sampling": self.sampling.to_dict(),
            "evidence": self.evidence.to_dict(),
            "reason": self.reason,
        }

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
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in self._rows()
        )
        return f"<table>{cells}</table>"
