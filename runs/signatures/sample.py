"""A sample: the throughput during one run of an application, at regular times."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ...model.arrays import Floats
from ...model.errors import SelectionError


@dataclass(frozen=True, eq=False)
class Sample:
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


def checked_samples(samples: tuple[Sample, ...]) -> None:
    """Do nothing unless `samples` cannot have a signature.

    Raises SelectionError if there are fewer than two, their intervals differ, or a value is negative or not finite.
    """
    if len(samples) < 2:
        raise SelectionError(
            f"a signature needs at least 2 runs of the application, better 5 to 10; there is {len(samples)}"
        )
    for sample in samples:
        if not sample.interval > 0 or not np.isclose(sample.interval, samples[0].interval, rtol=1e-9):
            raise SelectionError(f"{sample.name}: its interval of {sample.interval:.6g} s is not that of the others")
        if not np.isfinite(sample.values).all() or (sample.values < 0).any():
            raise SelectionError(f"{sample.name}: its throughput has values that are negative or not finite")
