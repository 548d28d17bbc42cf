"""The overview of a trace: each layer with its period, what the run did, and findings."""

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from ...layers.document import FLUSHES, OF_TRACE, document, flush_entries
from ...layers.layer import Layer
from ...layers.selection.directions import DIRECTIONS, Direction
from ...layers.selection.window import SetAside
from ...layers.summary.statistics import LayerStatistics, with_counted
from ...layers.trace import Trace
from ...model.arrays import Frozen
from ...model.document import Document, keys_of
from ..findings.find import Finding, find
from ..registry import DEFAULT_METHOD
from ..results.parts import Regime
from .elsewhere import by_cost, timed_elsewhere
from .headline import Headline, headline_of
from .iterations import loops_of
from .layer_periods import LayerPeriod, layer_periods
from .loop_story import story_by_loops
from .polling import Timed
from .story import Segment, results_of

_VERDICT: Final = {
    "periodic": bool | None,
    **keys_of(float | None, "period_s confidence"),
    "period_interval_s": tuple[float, float] | None,
    "regimes": tuple[Regime, ...] | None,
    "reason": str | None,
}


class OverviewRow(Frozen):
    """A layer in one direction.

    Attributes
    ----------
    statistics : LayerStatistics
    period : LayerPeriod or None
        None where no bytes were moved.
    """

    statistics: LayerStatistics
    period: LayerPeriod | None

    def to_dict(self) -> Annotated[Document, LayerStatistics, _VERDICT]:
        """Return the entry of the document."""
        names = ("periodic", "period_s", "period_interval_s", "confidence", "regimes", "reason")
        verdict = None if self.period is None else self.period.result.to_dict()
        return {**self.statistics.to_dict(), **{name: None if verdict is None else verdict[name] for name in names}}


_OVERVIEW: Final = {
    "headline": Headline,
    "elsewhere": tuple[str, ...],
    "layers": list[OverviewRow],
    "flushes": list[Annotated[Document, FLUSHES]],
    "story": tuple[Segment, ...],
    "findings": tuple[Finding, ...],
    "set_aside": SetAside,
}


class Overview(Frozen):
    """What ``iostrata TRACE`` shows.

    Attributes
    ----------
    trace : Trace
    layers : tuple of Layer or BinnedLayer
        Those that were asked for.
    rows : tuple of OverviewRow
        One a layer and direction that had operations, the highest layer first.
    story : tuple of Segment
        What the I/O was, segment by segment.
    findings : tuple of Finding
        Of the whole trace, those that matter most first.
    headline : Headline
        Which share of the run is I/O, and why.
    beside : tuple of (str, float)
        What takes much of the run outside of that, in words and in s.
    """

    trace: Trace
    layers: tuple[Layer, ...]
    rows: tuple[OverviewRow, ...]
    story: tuple[Segment, ...]
    findings: tuple[Finding, ...]
    headline: Headline
    beside: tuple[Timed, ...]

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """What takes much of the run outside of I/O, in words."""
        return tuple(text for text, _ in self.beside)

    @property
    def opening(self) -> tuple[str, ...]:
        """Headline and these in the order in which they are told: what takes longest first."""
        return by_cost(self.headline, self.beside)

    @property
    def periods(self) -> tuple[LayerPeriod, ...]:
        """Those of the rows."""
        return tuple(row.period for row in self.rows if row.period is not None)

    def to_dict(self) -> Annotated[Document, OF_TRACE, _OVERVIEW]:
        """Return the document of ``iostrata TRACE --json``."""
        return document(
            self.trace,
            headline=self.headline.to_dict(),
            elsewhere=list(self.elsewhere),
            layers=[row.to_dict() for row in self.rows],
            flushes=flush_entries(self.layers),
            story=[one.to_dict() for one in self.story],
            findings=[one.to_dict() for one in self.findings],
            set_aside=self.trace.set_aside.to_dict(),
        )


def overview_of(
    trace: Trace,
    layers: Iterable[Layer] | None = None,
    directions: tuple[Direction, ...] = DIRECTIONS,
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
) -> Overview:
    """Look at a trace as ``iostrata TRACE`` does.

    Parameters
    ----------
    layers : iterable of Layer, optional
        Those to look at; all by default. Findings are of the whole trace.
    directions : tuple of {"read", "write", "total"}
    method, fs
        As in `iostrata.analysis.detect.detect_period`.

    Raises SelectionError as `detect_period`.
    """
    chosen = tuple(trace.layers.values() if layers is None else layers)
    periods = layer_periods(chosen, directions, "all", method, fs, loops=loops_of(trace, method))
    known: dict[tuple[str, str | None], LayerPeriod] = {(one.layer, one.direction): one for one in periods}
    statistics = [layer.statistics(direction) for layer in chosen for direction in directions]
    if len(chosen) == len(trace.layers):
        statistics = with_counted(trace.scope, statistics, directions)
    told = [one for one in statistics if one.operations or (one.layer, one.direction) in known]
    rows = tuple(OverviewRow(one, known.get((one.layer, one.direction))) for one in told)
    found = results_of(known.values())
    story = story_by_loops(trace, found, [one.name for one in chosen], method, fs)
    by_default = (method, fs) == (DEFAULT_METHOD, "auto")
    findings = find(trace, periods={key: one for key, one in found.items() if by_default})
    return Overview(trace, chosen, rows, story, findings, headline_of(trace, findings), timed_elsewhere(trace))
