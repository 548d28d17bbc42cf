"""A sample: the throughput during one run of an application, at regular times."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Self

import numpy as np

from ...model.arrays import Floats, Frozen
from ...model.errors import SelectionError

MOST_VALUES: Final = 2**20
"""Of a sample: 24 days at intervals of 2 s."""
VALUES_BY_DEFAULT: Final = 200


class Sample(Frozen):
    """The throughput during one run.

    Attributes
    ----------
    name : str
    values : float64 (n,)
        Mean throughput of each interval in bytes/s, finite and not negative.
    interval : float
        Spacing of the values in s.
    """

    name: str
    values: Floats
    interval: float

    @property
    def duration(self) -> float:
        """Length in s."""
        return len(self.values) * self.interval

    @property
    def volume(self) -> float:
        """Bytes, those of other jobs among them where a server counted."""
        return float(self.values.sum()) * self.interval

    def with_values(self, values: Floats, interval: float | None = None) -> Self:
        """Return the sample with other values, and another spacing where one is given."""
        return replace(self, values=values, interval=self.interval if interval is None else interval)


def resampled(values: Floats, interval: float, start: float, end: float, step: float) -> Floats:
    """Return the means over intervals of `step` s between `start` and `end`, in s from the first value.

    The last interval ends within; volumes are kept. Raises SelectionError if there would be more than `MOST_VALUES`.
    """
    if (end - start) / step > MOST_VALUES:
        raise SelectionError(f"an interval of {step:.6g} s makes more than {MOST_VALUES:,} values; take a longer one")
    edges = np.arange(int(np.floor((end - start) / step + 1e-9)) + 1) * step + start
    volume = np.append(0.0, np.cumsum(values))
    means: Floats = np.diff(np.interp(edges / interval, np.arange(len(volume)), volume)) * (interval / step)
    return np.maximum(means, 0.0)


def cut_to_shortest(samples: Sequence[Sample]) -> list[Sample]:
    """Return the beginnings that all samples have, as where runs ended early or still go on (IOSI, section 2.3)."""
    shortest = min((len(one.values) for one in samples), default=0)
    return [one.with_values(one.values[:shortest]) for one in samples]


def usual_interval(durations: Sequence[float]) -> float:
    """Return an interval in s that suits runs of these lengths: of 1, 2, 5, 10, … the nearest to 1/200 of the shortest.

    >>> usual_interval([20.5, 24.3]), usual_interval([7.0, 9.0])
    (0.1, 0.05)
    """
    wanted = min(durations) / VALUES_BY_DEFAULT
    if not wanted > 0:
        raise SelectionError("a run without length has no signature")
    power = 10.0 ** np.floor(np.log10(wanted))
    nearest = min((1, 2, 5, 10), key=lambda digit: abs(np.log(digit * power / wanted)))
    return float(f"{nearest * power:.6g}")


def checked_samples(samples: tuple[Sample, ...]) -> None:
    """Do nothing unless `samples` cannot have a signature.

    Raises SelectionError if there are fewer than two, their intervals differ, or a value is negative or not finite.
    """
    if len(samples) < 2:
        raise SelectionError(
            f"a signature needs at least 2 runs of the application, better 5 to 10; there is {len(samples)}"
        )
    for sample in samples:
        if not sample.interval > 0 or not math.isclose(sample.interval, samples[0].interval):
            raise SelectionError(f"{sample.name}: its interval of {sample.interval:.6g} s is not that of the others")
        if not np.isfinite(sample.values).all() or (sample.values < 0).any():
            raise SelectionError(f"{sample.name}: its throughput has values that are negative or not finite")
