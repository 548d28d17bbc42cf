"""Metrics of jobs in segments of time, for many jobs at once."""

from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Floats, Frozen, Ints
from ..collection.rows import METRICS as RECORDED

METRICS: Final = (RECORDED[0], "md_mod", *RECORDED[1:], *(f"osc_{name}" for name in RECORDED[4:]))
"""Betke & Kunkel, Table 3; all per second. Transfers come twice: as servers and as clients (OSC) count them."""

DEFAULT_SEGMENT_S: Final = 600.0


def too_long(job: str, there: float, wanted: float) -> str | None:
    """Return why a job of segments of `there` seconds cannot be assessed in those of `wanted`; None where it can."""
    if there <= wanted * (1 + 1e-9):
        return None
    return (
        f"{job}: it has segments of {there:.6g} s, longer than the {wanted:g} s asked for; take --segment {there:.6g}"
    )


class MetricBlock(Frozen):
    """Some jobs, whole ones, as series: one metric of one node on one file system each.

    Attributes
    ----------
    jobs, filesystems : tuple of str
    node_names : tuple of str
        By the number of a node in the block.
    job, node, filesystem, metric : int64 (n,)
        Of each series: its job (ascending), the number of its node, its file system, its row in `METRICS`.
    first : int64 (n,)
        Segment of its first value, counted from the job's start.
    offset : int64 (n + 1,)
        Where its values begin in `values`.
    values : float64 (m,)
        Mean rate in each segment; NaN where it is missing.
    segments : int64 (j,)
        Segments of each job.
    duration : float64 (j,)
        Of each job in s.
    idle : int64 (j,)
        Nodes of each job that are known to have done nothing, and have no series.
    """

    jobs: tuple[str, ...]
    filesystems: tuple[str, ...]
    node_names: tuple[str, ...]
    job: Ints
    node: Ints
    filesystem: Ints
    metric: Ints
    first: Ints
    offset: Ints
    values: Floats
    segments: Ints
    duration: Floats
    idle: Ints

    @property
    def metric_of_values(self) -> npt.NDArray[np.int8]:
        """Row in `METRICS` of each value, int8 (m,)."""
        return np.repeat(self.metric.astype(np.int8), np.diff(self.offset))
