"""Tables of metrics by job, node and file system, read into blocks of whole jobs: CSV, Parquet, a collection.

Two forms of table: a row a sample (``job,node,filesystem,metric,time,value``), or, as in a collection, a row a series
(``job,node,filesystem,metric,start_s,segment_s,values``). The module needs pyarrow; import it inside the function that
uses it.
"""

import csv
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...inputs.parquet import texts_of
from ...model.arrays import Array, Columns, Floats, Ints, Mask
from ...model.errors import TraceError
from ..collection.tables import Collection, arrow
from .assessment import JobScore, assess, ranked
from .blocks import DEFAULT_SEGMENT_S, METRICS, MetricBlock, too_long
from .limits import Training

NAMES: Final = ("job", "node", "filesystem", "metric")
SAMPLES: Final = ("time", "value")
SERIES: Final = ("start_s", "segment_s", "values")
COLLECTION: Final = "segment"
_AT_ONCE: Final = 2**19
"""Rows that are read at once; of series as many values."""
_SORTED_HERE: Final = 2**22
"""A table of no more values is sorted in memory where its jobs are not together."""
_BYTES_OF_A_ROW: Final = 32
"""Of text, usually."""
_MOST_SEGMENTS: Final = 2**22
_MOST_GAPS: Final = 1000
"""Segments without a sample for each with one, on average."""
_MOST_NAMES: Final = 2**22
_MOST_KEYS: Final = 2**58


class _MetricRows(Columns):
    """Rows as codes of names; of series `value` are arrays of values, `step` s apart."""

    job: Ints
    node: Ints
    filesystem: Ints
    metric: Ints
    time: Floats
    step: Floats
    value: Array


@dataclass
class MetricTable:
    """A table of metrics.

    Parameters
    ----------
    source : Path or Collection
        A CSV or Parquet file, or runs of a collection.
    segment : float
        Length of a segment in s.

    Attributes
    ----------
    path : Path
    most_values : int
        A bound on the values in it.
    ignored : dict of str to int
        Rows of metrics that nobody knows, after reading.
    missing : int
        Values that are negative or not finite, after reading.
    failed : dict of str to str
        Why a job cannot be used, by its name, after reading: its segments are longer than those asked for, as a
        collection has them where a long run would have too many.
    """

    source: str | os.PathLike[str] | Collection
    segment: float
    path: Path = field(init=False)
    most_values: int = field(init=False)
    ignored: dict[str, int] = field(default_factory=dict, init=False)
    missing: int = field(default=0, init=False)
    failed: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.collection = self.source if isinstance(self.source, Collection) else None
        self.path = self.source.path if isinstance(self.source, Collection) else Path(self.source)
        # Of a run in a collection it is known how long and on how many nodes it was: those without a row did nothing.
        known = self.collection.jobs if self.collection else ()
        self.failed |= {job.job: f"{job.job}: {job.reason}" for job in known if not job.usable}
        runs = [job for job in known if job.usable]
        self._nodes = {job.job: job.nodes or 0 for job in runs}
        self._lengths = {job.job: job.duration_s or 0.0 for job in runs}
        self._rows = self._expected = 0
        self._series = False
        self._parquet = self.path.suffix.lower() in (".parquet", ".pq")
        self._codes: tuple[dict[str, int], ...] = ({}, {}, {}, {})
        self._metrics = np.zeros(0, np.int64)
        with self._explained():
            self.most_values = self._measured()

    def blocks(self) -> Iterator[MetricBlock]:
        """Give the jobs of the table, whole ones.

        Raises TraceError if the table cannot be read, or is large and the rows of a job do not stand together.
        """
        carried: list[_MetricRows] = []
        done: set[int] = set()
        together = self._expected > _SORTED_HERE
        with self._explained():
            for part in self._parts():
                job = part.job
                if not together or (carried and job[-1] == carried[0].job[0] and (job == job[-1]).all()):
                    carried.append(part)
                    continue
                rows = _MetricRows.concatenate([*carried, part])
                starts = np.flatnonzero(np.append(True, np.diff(rows.job) != 0))
                runs = rows.job[starts]
                if len(np.unique(runs)) < len(runs) or not done.isdisjoint(runs.tolist()):
                    raise TraceError(
                        f"{self.path}: the rows of a job do not stand together, in a table too large to be sorted here "
                        f"(more than {_SORTED_HERE:,} values); sort it by job first"
                    )
                done.update(runs[:-1].tolist())
                carried = [rows.take(np.arange(starts[-1], len(rows)))]
                yield from self._blocks(rows.take(np.arange(starts[-1])))
            if carried:
                yield from self._blocks(_MetricRows.concatenate(carried))
            idle = [job for job in self._nodes if job not in self._codes[0]]
            if idle:
                yield self._idle(idle)
            elif self.failed and not carried:
                raise TraceError(f"{self.path}: no job is left: {next(iter(self.failed.values()))}")

    def _measured(self) -> int:
        """Read what kind of table it is; return a bound on its values."""
        pyarrow = arrow()
        if self.collection is not None:
            self._series = True
            parts = self.collection.parts(COLLECTION)
            self._expected = sum(len(part["values"].combine_chunks().values) for part in parts)
            return self._expected
        if self._parquet:
            with pyarrow.parquet.ParquetFile(self.path) as file:
                names, about = file.schema_arrow.names, file.metadata
            self._rows = values = about.num_rows
            self._series = set(SERIES) <= set(names)
            if self._series:
                columns = [about.schema.column(place).path.split(".")[0] for place in range(about.num_columns)]
                groups = (about.row_group(group) for group in range(about.num_row_groups))
                values = sum(group.column(columns.index("values")).num_values for group in groups)
            self._expected = values
        else:
            with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as text:
                names = [name.strip() for name in next(csv.reader(text), [])]
            # A row has five commas, a value and the end of the line.
            size = self.path.stat().st_size
            values, self._expected = size // 7, size // _BYTES_OF_A_ROW
        wanted = (*NAMES, *(SERIES if self._series else SAMPLES))
        lacking = [name for name in wanted if name not in names]
        if lacking:
            raise TraceError(
                f"{self.path}: no column {lacking[0]!r}; a table of metrics has {','.join(NAMES + SAMPLES)}"
            )
        return int(values)

    def _parts(self) -> Iterator[_MetricRows]:
        wanted = [*NAMES, *(SERIES if self._series else SAMPLES)]
        for batch in self._batches(wanted):
            if not batch.num_rows:
                continue
            job, node, filesystem, metric = (self._coded(place, batch[name]) for place, name in enumerate(NAMES))
            known = self._known(metric)
            if self._series:
                time, step, lists = _floats(batch["start_s"]), _floats(batch["segment_s"]), batch["values"]
                values = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
                lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
                ends = np.cumsum(lengths)
                parts = (values[low:high] for low, high in zip((ends - lengths).tolist(), ends.tolist(), strict=True))
                value = np.fromiter(parts, object, len(time))
                known &= (lengths > 0) & (step > 0) & ~self._too_long(job, step)
            else:
                time, value = _floats(batch["time"]), _floats(batch["value"])
                step, values = np.zeros(len(time)), value
            known &= np.isfinite(time)
            self.missing += int((~((values >= 0) & np.isfinite(values))).sum())
            if known.any():
                rows = _MetricRows(job, node, filesystem, metric, time, step, value)
                yield rows if known.all() else rows.take(known)

    def _too_long(self, job: Ints, step: Floats) -> Mask:
        """Return which rows have longer segments than those asked for, and note of which jobs they are."""
        longer: Mask = step > self.segment * (1 + 1e-9)
        if longer.any():
            names = list(self._codes[0])
            for one in np.unique(job[longer]).tolist():
                length = float(step[longer & (job == one)].max())
                self.failed[names[one]] = too_long(names[one], length, self.segment) or ""
        return longer

    def _batches(self, wanted: list[str]) -> Iterator[Any]:
        pyarrow = arrow()
        if self.collection is not None:
            for part in self.collection.parts(COLLECTION):
                yield from part.select(wanted).to_batches()
            return
        if self._parquet:
            with pyarrow.parquet.ParquetFile(self.path, read_dictionary=list(NAMES), pre_buffer=False) as file:
                size = _AT_ONCE
                if self._series and self._rows:
                    size = max(1, min(_AT_ONCE, _AT_ONCE * self._rows // max(1, self.most_values)))
                # One call for the whole file keeps all that it has read.
                for group in range(file.num_row_groups):
                    yield from file.iter_batches(size, row_groups=[group], columns=wanted)
            return
        text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        types = {**dict.fromkeys(NAMES, text), **dict.fromkeys(SAMPLES, pyarrow.float64())}
        convert = pyarrow.csv.ConvertOptions(column_types=types, include_columns=wanted)
        read = pyarrow.csv.ReadOptions(block_size=2**24)
        with pyarrow.csv.open_csv(self.path, read_options=read, convert_options=convert) as reader:
            yield from reader

    def _coded(self, place: int, column: Any) -> Ints:
        """Return the number of each name, one and the same in the whole table."""
        pyarrow = arrow()
        if not pyarrow.types.is_dictionary(column.type):
            column = column.cast(pyarrow.string()).dictionary_encode()
        known = self._codes[place]
        names = texts_of(column.dictionary)
        numbers = np.array([known.setdefault(name, len(known)) for name in names], np.int64)
        if len(known) > _MOST_NAMES:
            raise TraceError(f"{self.path}: more than {_MOST_NAMES:,} different values of {NAMES[place]}")
        none = known.setdefault("", len(known)) if column.null_count else 0
        rows = column.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False).astype(np.int64)
        found: Ints = np.append(numbers, none)[rows]
        return found

    def _known(self, metric: Ints) -> Mask:
        """Return which rows are of a metric that is known; the others are counted."""
        names = list(self._codes[3])
        if len(self._metrics) < len(names):
            self._metrics = np.array([METRICS.index(name) if name in METRICS else -1 for name in names])
        known = self._metrics[metric] >= 0
        if not known.all():
            other, counts = np.unique(metric[~known], return_counts=True)
            for code, count in zip(other.tolist(), counts.tolist(), strict=True):
                self.ignored[names[code]] = self.ignored.get(names[code], 0) + count
        return known

    def _blocks(self, rows: _MetricRows) -> Iterator[MetricBlock]:
        """Give rows that hold whole jobs as blocks."""
        if not len(rows):
            return
        sizes = [len(codes) for codes in self._codes]
        if sizes[0] * sizes[1] * sizes[2] > _MOST_KEYS:
            raise TraceError(f"{self.path}: too many different jobs, nodes and file systems; divide the table")
        key = (rows.job * sizes[1] + rows.node) * sizes[2] + rows.filesystem
        key = key * len(METRICS) + self._metrics[rows.metric]
        if not _sorted(key, rows.time):
            order = np.lexsort((rows.time, key))
            rows, key = rows.take(order), key[order]
        yield self._block(rows, key)

    def _idle(self, jobs: list[str]) -> MetricBlock:
        """Return runs of a collection that did nothing on any node."""
        none = np.zeros(0, np.int64)
        lengths = np.array([self._lengths[job] for job in jobs])
        return MetricBlock(
            jobs=tuple(jobs), filesystems=("",), node_names=(), job=none, node=none, filesystem=none, metric=none,
            first=none, offset=np.zeros(1, np.int64), values=np.zeros(0),
            segments=np.maximum(np.ceil(lengths / self.segment), 1).astype(np.int64), duration=lengths,
            idle=np.array([self._nodes[job] for job in jobs], np.int64),
        )  # fmt: skip

    def _block(self, rows: _MetricRows, key: Ints) -> MetricBlock:
        """Return the block of rows, ordered by `key`, which is that of a series."""
        from .kernels import segment_means

        starts = np.flatnonzero(np.append(True, np.diff(key) != 0))
        series = rows.take(starts)
        if self._series:
            lengths = np.array([len(values) for values in rows.value])
            offset = np.append(0, np.cumsum(lengths))
            within = np.arange(offset[-1]) - np.repeat(offset[:-1], lengths)
            time = np.repeat(rows.time, lengths) + within * np.repeat(rows.step, lengths)
            value = np.concatenate(rows.value)
            start, step = np.append(offset[starts], offset[-1]), float(rows.step.max())
        else:
            time, value, step = rows.time, rows.value, _typical_step(rows.time, key)
            start = np.append(starts, len(key))
        last = time[start[1:] - 1]
        jobs, place = np.unique(series.job, return_inverse=True)
        begin = np.searchsorted(place, np.arange(len(jobs)))
        origin = np.minimum.reduceat(series.time, begin)
        end = np.maximum.reduceat(last, begin)
        with np.errstate(over="ignore"):
            segments = np.floor((end - origin) / self.segment + 1e-9) + 1
            longest = (np.floor((last - series.time) / self.segment) + 1).sum()
        if segments.max() > _MOST_SEGMENTS or longest > _MOST_GAPS * len(time) + _MOST_SEGMENTS:
            raise TraceError(
                f"{self.path}: a job of {float((end - origin).max()):.3g} s has more segments of {self.segment:g} s "
                "than can be; are its times in seconds? Else choose longer segments"
            )
        if step > self.segment * (1 + 1e-9):
            raise TraceError(
                f"{self.path}: its samples are {step:.6g} s apart, longer than segments of {self.segment:g} s; take "
                f"--segment {step:.6g} or more, with limits for it"
            )
        names = [list(known) for known in self._codes]
        told = tuple(names[0][code] for code in jobs.tolist())
        active = np.bincount(np.unique(place * len(names[1]) + series.node) // len(names[1]), minlength=len(jobs))
        idle = np.array([max(0, self._nodes.get(job, 0) - count) for job, count in zip(told, active, strict=True)])
        first, offsets, means = segment_means(start, time, value, origin[place], float(self.segment))
        lasting = [self._lengths.get(*one) for one in zip(told, end - origin + step, strict=True)]
        return MetricBlock(
            jobs=told,
            filesystems=tuple(names[2]),
            node_names=tuple(names[1]),
            job=place.astype(np.int64),
            node=series.node,
            filesystem=series.filesystem,
            metric=self._metrics[series.metric],
            first=first,
            offset=offsets,
            values=means,
            segments=segments.astype(np.int64),
            duration=np.array(lasting, np.float64),
            idle=idle.astype(np.int64),
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in one line what is wrong with the table."""
        pyarrow = arrow()
        try:
            yield
        except (pyarrow.ArrowException, UnicodeError, csv.Error) as error:
            reason = " ".join(str(error).split())[:200]
            raise TraceError(f"{self.path}: not a table of metrics that can be read: {reason}") from None


def _sorted(key: Ints, time: Floats) -> bool:
    ahead = np.diff(key)
    return bool(((ahead > 0) | ((ahead == 0) & (np.diff(time) >= 0))).all())


def _typical_step(time: Floats, key: Ints) -> float:
    """Return the usual time between two samples of a series, in s; 0 where no series has two."""
    steps = np.diff(time)[np.diff(key) == 0]
    return float(np.median(steps[: 2**16])) if len(steps) else 0.0


def _floats(column: Any) -> Floats:
    found: Floats = np.asarray(column.cast(arrow().float64()).to_numpy(zero_copy_only=False), np.float64)
    return found


def with_costs(scores: Iterable[JobScore], runs: Iterable[Collection]) -> list[JobScore]:
    """Return scores with what I/O costs each run of the collections, and why, where that is known."""
    known = {job.job: job for one in runs for job in one.jobs}
    told = [(one, known.get(one.job)) for one in scores]
    return [
        one if of is None else replace(one, cost_s=of.cost_s, io_share=of.io_share, cause=of.cause) for one, of in told
    ]


def scores_of_runs(runs: Collection) -> list[JobScore]:
    """Return the scores of the runs of a collection in their order, as ``iostrata assess`` has them at its defaults."""
    table = MetricTable(runs, DEFAULT_SEGMENT_S)
    blocks = list(table.blocks())
    training = Training()
    for block in blocks:
        training.add(block)
    limits = training.limits(DEFAULT_SEGMENT_S)
    return ranked(with_costs(assess(blocks, limits), [runs]), "cost_s")
