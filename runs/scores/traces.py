"""Jobs out of traces: metrics of each node as POSIX and ISO C operations make them."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...layers.trace import Trace
from ...model.errors import MissingLibraryError, TraceError
from ..collection.content import trace_name
from ..collection.names import distinct_names
from ..collection.read import job_key
from ..collection.rows import METRICS as RECORDED
from ..collection.rows import SegmentRow
from ..collection.segments import SegmentSums
from .blocks import METRICS, MetricBlock, too_long


@dataclass
class TraceJobs:
    """Traces as jobs, each a block; read when they are asked for, and again where they are asked for again.

    Parameters
    ----------
    paths : tuple of Path
    segment : float
        Length of a segment in s.
    opened : callable
        Opens a trace.

    Attributes
    ----------
    most_values : int or None
        Not known before they are read.
    ignored : dict
        As that of a table; nothing is.
    missing : int
    failed : dict of str to str
        Why a trace cannot be used, by its path, after reading.
    collection : None
        They are no runs of one.
    """

    paths: tuple[Path, ...]
    segment: float
    opened: Callable[[Path], Trace]
    most_values: int | None = None
    ignored: dict[str, int] = field(default_factory=dict)
    missing: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    collection: None = None

    @property
    def path(self) -> Path:
        """The first of them."""
        return self.paths[0]

    def blocks(self) -> Iterator[MetricBlock]:
        """Give a block a trace, without those that cannot be used; raises TraceError if that are all."""
        names = distinct_names({job_key(path): trace_name(path) for path in self.paths})
        for path in self.paths:
            name = names[job_key(path)]
            try:
                trace = self.opened(path)
            except (TraceError, MissingLibraryError, OSError) as error:
                self.failed[str(path)] = str(error)
                if len(self.failed) == len(self.paths):
                    raise
                continue
            sums = trace.stream.summed(lambda trace=trace: SegmentSums(trace, self.segment))  # type: ignore[misc]
            longer = too_long(name, sums.segment_s, self.segment)
            if longer is not None:
                self.failed[str(path)] = longer
                continue
            yield block_of_rows(name, sums.rows(name), trace.definitions.node_count, self.segment, trace.duration)


def block_of_rows(job: str, rows: Iterable[SegmentRow], nodes: int, segment: float, duration: float) -> MetricBlock:
    """Return one job as a block.

    Parameters
    ----------
    rows : iterable of SegmentRow
        Of the job.
    nodes : int
        On which it ran; those without a row did nothing.
    segment, duration : float
        Of a segment and of the job, in s.
    """
    known = sorted(rows, key=lambda row: (row.node, row.filesystem, RECORDED.index(row.metric)))
    names = tuple(dict.fromkeys(row.node for row in known))
    systems = tuple(dict.fromkeys(row.filesystem for row in known)) or ("",)
    lengths = [len(row.values) for row in known]
    count = max(lengths, default=max(1, math.ceil(duration / segment)))
    place, system = ({name: number for number, name in enumerate(every)} for every in (names, systems))
    return MetricBlock(
        jobs=(job,),
        filesystems=systems,
        node_names=names,
        job=np.zeros(len(known), np.int64),
        node=np.array([place[row.node] for row in known], np.int64),
        filesystem=np.array([system[row.filesystem] for row in known], np.int64),
        metric=np.array([METRICS.index(row.metric) for row in known], np.int64),
        first=np.zeros(len(known), np.int64),
        offset=np.append(0, np.cumsum(lengths)).astype(np.int64),
        values=np.concatenate([np.array(row.values, np.float64) for row in known]) if known else np.zeros(0),
        segments=np.array([count], np.int64),
        duration=np.array([duration]),
        idle=np.array([max(0, nodes - len(names))], np.int64),
    )
