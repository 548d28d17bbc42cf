"""Training: the limits between low, high and critical I/O, as quantiles of many jobs' metric segments."""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import numpy as np

from ...model.arrays import Floats
from ...model.document import SCHEMA_VERSION, Document, Record, read_document
from ...model.errors import SelectionError
from .blocks import DEFAULT_SEGMENT_S, METRICS, MetricBlock

DEFAULT_QUANTILES: Final = (0.99, 0.999)
LEAST_CRITICAL: Final = 2
_MOST_BYTES: Final = 2**20
_SLACK: Final = 2**16


class MetricLimits(Record):
    """Limits of each metric, per second, and how they were found.

    Attributes
    ----------
    limits : mapping of str to (float, float)
        Of each metric known: up to the first I/O is low, up to the second high, above critical.
    segment_s : float
        Length of a segment in s, that of the jobs to be assessed too.
    quantiles : (float, float)
    critical : float
        Score of critical I/O, Z.
    values : mapping of str to int
        Metric segments that each was found from.
    jobs : int
        That were trained with.
    """

    ENTRIES: ClassVar = ("segment_s", "quantiles", "critical", "jobs", "limits", "values")

    limits: Mapping[str, tuple[float, float]]
    segment_s: float = DEFAULT_SEGMENT_S
    quantiles: tuple[float, float] = DEFAULT_QUANTILES
    critical: float = 4.0
    values: Mapping[str, int] = field(default_factory=dict)
    jobs: int = 0

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Both limits of each of `METRICS`, NaN where there is none."""
        known = [self.limits.get(metric, (math.nan, math.nan)) for metric in METRICS]
        return np.array([low for low, _ in known]), np.array([high for _, high in known])

    def to_dict(self) -> Annotated[Document, {"schema_version": int, "interpolation": str}]:
        """Return what the file holds."""
        return {"schema_version": SCHEMA_VERSION, "interpolation": "linear", **super().to_dict()}


def critical_score(limits: Mapping[str, tuple[float, float]]) -> float:
    """Return Z: the smallest ratio of both limits, rounded, at least 2; metrics whose lower limit is 0 do not count.

    Betke & Kunkel, section 3.3: critical I/O weighs as much more as it is at least higher. Their Table 5 gives 4.
    """
    ratios = [high / low for low, high in limits.values() if low > 0]
    return float(max(LEAST_CRITICAL, round(min(ratios)))) if ratios else float(LEAST_CRITICAL)


class Training:
    """Collects the metric segments of many jobs, and gives the limits.

    Only what may lie above the lower quantile is kept.

    Parameters
    ----------
    quantiles : (float, float)
        Ascending, between 0 and 1.
    most_values : int, optional
        A bound on the number of values to come, of all metrics; without it every value above 0 is kept.
    """

    def __init__(self, quantiles: tuple[float, float] = DEFAULT_QUANTILES, most_values: int | None = None) -> None:
        low, high = quantiles
        if not 0 < low < high < 1:
            raise SelectionError(f"quantiles {low:g} and {high:g} make no sense: 0 < first < second < 1")
        self._quantiles = quantiles
        self._most = None if most_values is None else math.ceil((1 - low) * most_values) + 2
        self._above: list[list[Floats]] = [[] for _ in METRICS]
        self._held = np.zeros(len(METRICS), np.int64)
        self._least = np.zeros(len(METRICS))
        self._counts = np.zeros(len(METRICS), np.int64)
        self._jobs = 0

    def add(self, block: MetricBlock) -> None:
        """Add the jobs of a block."""
        metric, values = block.metric_of_values, block.values
        known = ~np.isnan(values)
        self._counts += np.bincount(metric[known], minlength=len(METRICS))
        self._jobs += len(block.jobs)
        chosen = known & (values > self._least[metric])
        metric, values = metric[chosen], values[chosen]
        for row in np.unique(metric).tolist():
            own = values[metric == row]
            self._above[row].append(own)
            self._held[row] += len(own)
            if self._most is not None and self._held[row] > self._most + self._most // 4 + _SLACK:
                whole = np.concatenate(self._above[row])
                whole = np.partition(whole, len(whole) - self._most)[-self._most :]
                self._above[row], self._held[row] = [whole], len(whole)
                # What is as small as the smallest kept is needed no more.
                self._least[row] = whole.min()

    def limits(self, segment_s: float = DEFAULT_SEGMENT_S, critical: float | None = None) -> MetricLimits:
        """Return the limits; those of a metric without values are not there.

        Parameters
        ----------
        segment_s : float
            Length of the segments that were added.
        critical : float, optional
            Z; default: `critical_score`.

        Raises
        ------
        SelectionError
            If no value was added.
        """
        if not self._counts.any():
            raise SelectionError("no values to train with: jobs are scored by what they do in POSIX, ISO C and DFS")
        limits: dict[str, tuple[float, float]] = {}
        for row, metric in enumerate(METRICS):
            if self._counts[row]:
                above = np.sort(np.concatenate([*self._above[row], np.zeros(0)]))
                low, high = (_quantile(above, int(self._counts[row]), share) for share in self._quantiles)
                limits[metric] = low, high
        score = critical_score(limits) if critical is None else critical
        counts = {metric: int(self._counts[row]) for row, metric in enumerate(METRICS) if self._counts[row]}
        return MetricLimits(limits, segment_s, self._quantiles, score, counts, self._jobs)


def _quantile(above: Floats, count: int, share: float) -> float:
    """Return a quantile of `count` values by linear interpolation; `above` are the largest, the others below them."""
    row = (count - 1) * share - (count - len(above))
    return float(np.interp(row, np.arange(-1, len(above)), np.append(0.0, above)))


def train(
    blocks: Iterable[MetricBlock],
    *,
    segment_s: float = DEFAULT_SEGMENT_S,
    quantiles: tuple[float, float] = DEFAULT_QUANTILES,
    critical: float | None = None,
    most_values: int | None = None,
) -> MetricLimits:
    """Return the limits that blocks of jobs give (Betke & Kunkel, section 3.2): quantiles pooled over all jobs.

    Parameters and errors are those of `Training` and its methods.
    """
    training = Training(quantiles, most_values)
    for block in blocks:
        training.add(block)
    return training.limits(segment_s, critical)


def read_limits(path: str | os.PathLike[str]) -> MetricLimits:
    """Read limits that ``iostrata assess --train`` wrote; TraceError if it is no such file."""
    return read_document(Path(path), "a file of limits of 'iostrata assess --train'", _parsed, _MOST_BYTES)


def _parsed(document: Document) -> MetricLimits:
    limits = {}
    if not isinstance(document["limits"], dict) or not document["limits"]:
        raise ValueError("its limits are no object with a pair of numbers for each metric")
    for metric, both in document["limits"].items():
        if metric not in METRICS:
            raise ValueError(f"unknown metric {str(metric)[:40]!r}")
        low, high = _pair(both, f"the limits of {metric}")
        if not 0 <= low <= high:
            raise ValueError(f"the limits of {metric} do not ascend from 0")
        limits[metric] = low, high
    first, second = _pair(document["quantiles"], "its quantiles")
    if not 0 < first < second < 1:
        raise ValueError(f"its quantiles {first:g} and {second:g} do not ascend between 0 and 1")
    segment, critical = _number(document["segment_s"], "segment_s"), _number(document["critical"], "critical")
    if not (segment > 0 and critical >= 1):
        raise ValueError(f"segment_s {segment:g} or critical {critical:g} makes no sense")
    return MetricLimits(limits, segment, (first, second), critical, {}, int(_number(document.get("jobs", 0), "jobs")))


def _pair(values: Any, what: str) -> tuple[float, float]:
    if not isinstance(values, list) or len(values) != 2:
        raise ValueError(f"{what} are not two numbers")
    return _number(values[0], what), _number(values[1], what)


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:40]!r} in {what} is no number")
    return float(value)
