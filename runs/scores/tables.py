"""Tables of metrics by job, node and file system, read into blocks of whole jobs: CSV, Parquet, a collection.

Two forms of table: a row a sample (``job,node,filesystem,metric,time,value``), or, as in a collection, a row a series
(``job,node,filesystem,metric,start_s,segment_s,values``). The module needs pyarrow; import it inside the function that
uses it.
"""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Floats, Ints, Mask
from ...model.errors import TraceError
from ..collection.tables import Collection, arrow
from .blocks import METRICS, MetricBlock, too_long

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


@dataclass(frozen=True, eq=False)
class _MetricRows:
    """Rows as codes of names; of series the values with offsets, of samples one value a row."""

    names: tuple[npt.NDArray[np.int64], ...]
    time: Floats
    value: Floats
    step: Floats | None = None
    offset: Ints | None = None

    def take(self, rows: Ints) -> "_MetricRows":
        names = tuple(column[rows] for column in self.names)
        if self.offset is None or self.step is None:
            return _MetricRows(names, self.time[rows], self.value[rows])
        lengths = np.diff(self.offset)[rows]
        offset = np.append(0, np.cumsum(lengths))
        places = np.repeat(self.offset[rows] - offset[:-1], lengths) + np.arange(offset[-1])
        return _MetricRows(names, self.time[rows], self.value[places], self.step[rows], offset)

    def __len__(self) -> int:
        return len(self.time)

    @classmethod
    def joined(cls, parts: list["_MetricRows"]) -> "_MetricRows":
        if len(parts) == 1:
            return parts[0]
        names = tuple(np.concatenate(columns) for columns in zip(*(part.names for part in parts), strict=True))
        time, value = (np.concatenate([getattr(part, name) for part in parts]) for name in ("time", "value"))
        if parts[0].offset is None:
            return cls(names, time, value)
        lengths = np.concatenate([np.diff(part.offset) for part in parts if part.offset is not None])
        step = np.concatenate([part.step for part in parts if part.step is not None])
        return cls(names, time, value, step, np.append(0, np.cumsum(lengths)))


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

    source: Path | Collection
    segment: float
    path: Path = field(init=False)
    most_values: int = field(init=False)
    ignored: dict[str, int] = field(default_factory=dict, init=False)
    missing: int = field(default=0, init=False)
    failed: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._collection = self.source if isinstance(self.source, Collection) else None
        self.path = self.source.path if isinstance(self.source, Collection) else self.source
        # Of a run in a collection it is known how long and on how many nodes it was: those without a row did nothing.
        known = self._collection.jobs if self._collection else ()
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
                job = part.names[0]
                if not together or (carried and job[-1] == carried[0].names[0][0] and (job == job[-1]).all()):
                    carried.append(part)
                    continue
                rows = _MetricRows.joined([*carried, part])
                starts = np.flatnonzero(np.append(True, np.diff(rows.names[0]) != 0))
                runs = rows.names[0][starts]
                if len(np.unique(runs)) < len(runs) or not done.isdisjoint(runs.tolist()):
                    raise TraceError(
                        f"{self.path}: the rows of a job do not stand together, in a table too large to be sorted here "
                        f"(more than {_SORTED_HERE:,} values); sort it by job first"
                    )
                done.update(runs[:-1].tolist())
                carried = [rows.take(np.arange(starts[-1], len(rows)))]
                yield from self._blocks(rows.take(np.arange(starts[-1])))
            if carried:
                yield from self._blocks(_MetricRows.joined(carried))
            idle = [job for job in self._nodes if job not in self._codes[0]]
            if idle:
                yield self._idle(idle)
            elif self.failed and not carried:
                raise TraceError(f"{self.path}: no job is left: {next(iter(self.failed.values()))}")

    def _measured(self) -> int:
        """Read what kind of table it is; return a bound on its values."""
        pyarrow = arrow()
        if self._collection is not None:
            self._series = True
            parts = [(part.num_rows, len(part["values"].combine_chunks().values)) for part in self._segments()]
            self._rows, values = sum(rows for rows, _ in parts), sum(numbers for _, numbers in parts)
            self._expected = values
            return values
        if self._parquet:
            with pyarrow.parquet.ParquetFile(self.path) as file:
                names = file.schema_arrow.names
                self._rows = file.metadata.num_rows
                self._series = set(SERIES) <= set(names)
                if self._series:
                    place = [
                        file.metadata.schema.column(i).path.split(".")[0] for i in range(file.metadata.num_columns)
                    ]
                    columns = [i for i, name in enumerate(place) if name == "values"]
                    groups = range(file.metadata.num_row_groups)
                    values = sum(file.metadata.row_group(group).column(columns[0]).num_values for group in groups)
                else:
                    values = self._rows
        else:
            with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as text:
                names = [name.strip() for name in next(csv.reader(text), [])]
            self._series = False
            # A row has five commas, a value and the end of the line.
            size = self.path.stat().st_size
            values, self._rows = size // 7, size // _BYTES_OF_A_ROW
        wanted = (*NAMES, *(SERIES if self._series else SAMPLES))
        lacking = [name for name in wanted if name not in names]
        if lacking:
            raise TraceError(
                f"{self.path}: no column {lacking[0]!r}; a table of metrics has {','.join(NAMES + SAMPLES)}"
            )
        self._expected = self._rows if not self._parquet else values
        return int(values)

    def _parts(self) -> Iterator[_MetricRows]:
        wanted = [*NAMES, *(SERIES if self._series else SAMPLES)]
        for batch in self._batches(wanted):
            if not batch.num_rows:
                continue
            names = tuple(self._coded(place, batch[name]) for place, name in enumerate(NAMES))
            known = self._known(names[3])
            if self._series:
                lists = batch["values"]
                flat = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
                offset = np.append(0, np.cumsum(lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)))
                step = _floats(batch["segment_s"])
                rows = _MetricRows(names, _floats(batch["start_s"]), flat, step, offset.astype(np.int64))
                known &= np.diff(offset) > 0
                known &= np.isfinite(rows.time) & (step > 0)
                known &= ~self._too_long(names[0], step)
            else:
                rows = _MetricRows(names, _floats(batch["time"]), _floats(batch["value"]))
                known &= np.isfinite(rows.time)
            self.missing += int((~((rows.value >= 0) & np.isfinite(rows.value))).sum())
            if known.any():
                yield rows if known.all() else rows.take(np.flatnonzero(known))

    def _too_long(self, job: Ints, step: Floats) -> Mask:
        """Return which rows have longer segments than those asked for, and note of which jobs they are."""
        longer: Mask = step > self.segment * (1 + 1e-9)
        if longer.any():
            names = list(self._codes[0])
            for one in np.unique(job[longer]).tolist():
                length = float(step[longer & (job == one)].max())
                self.failed[names[one]] = too_long(names[one], length, self.segment) or ""
        return longer

    def _segments(self) -> Iterator[Any]:
        return iter(()) if self._collection is None else self._collection.parts(COLLECTION)

    def _batches(self, wanted: list[str]) -> Iterator[Any]:
        pyarrow = arrow()
        if self._collection is not None:
            for part in self._segments():
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
        names = ["" if name is None else str(name) for name in column.dictionary.to_pylist()]
        numbers = np.array([known.setdefault(name, len(known)) for name in names], np.int64)
        if len(known) > _MOST_NAMES:
            raise TraceError(f"{self.path}: more than {_MOST_NAMES:,} different values of {NAMES[place]}")
        none = known.setdefault("", len(known)) if column.null_count else 0
        rows = column.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False).astype(np.int64)
        found: Ints = np.append(numbers, none)[rows]
        return found

    def _known(self, metric: Ints) -> npt.NDArray[np.bool_]:
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
        job, node, system, metric = rows.names
        sizes = [len(codes) for codes in self._codes]
        if sizes[0] * sizes[1] * sizes[2] > _MOST_KEYS:
            raise TraceError(f"{self.path}: too many different jobs, nodes and file systems; divide the table")
        key = ((job * sizes[1] + node) * sizes[2] + system) * len(METRICS) + self._metrics[metric]
        order = np.lexsort((rows.time, key)) if not _sorted(key, rows.time) else None
        if order is not None:
            rows, key = rows.take(order), key[order]
        yield (self._of_series if rows.offset is not None else self._of_samples)(rows, key)

    def _of_samples(self, rows: _MetricRows, key: Ints) -> MetricBlock:
        start = np.append(np.flatnonzero(np.append(True, np.diff(key) != 0)), len(key))
        names = [column[start[:-1]] for column in rows.names]
        step = _typical_step(rows.time, key)
        block = self._block(names, start, rows.time, rows.value, step)
        if step > self.segment * (1 + 1e-9):
            raise TraceError(
                f"{self.path}: its samples are {step:.6g} s apart, longer than segments of {self.segment:g} s; take "
                f"--segment {step:.6g} or more, with limits for it"
            )
        return block

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

    def _of_series(self, rows: _MetricRows, key: Ints) -> MetricBlock:
        assert rows.offset is not None
        assert rows.step is not None
        lengths = np.diff(rows.offset)
        within = np.arange(rows.offset[-1]) - np.repeat(rows.offset[:-1], lengths)
        time = np.repeat(rows.time, lengths) + within * np.repeat(rows.step, lengths)
        first = np.flatnonzero(np.append(True, np.diff(key) != 0))
        names = [column[first] for column in rows.names]
        start = np.append(rows.offset[first], rows.offset[-1])
        return self._block(names, start, time, rows.value, float(rows.step.max()))

    def _block(self, columns: list[Ints], start: Ints, time: Floats, value: Floats, step: float) -> MetricBlock:
        """Return the block of series, whose samples begin at `start`."""
        from .kernels import segment_means

        codes, node, system, metric = columns
        last = time[start[1:] - 1]
        jobs, place = np.unique(codes, return_inverse=True)
        begin = np.searchsorted(place, np.arange(len(jobs)))
        origin = np.minimum.reduceat(time[start[:-1]], begin)
        end = np.maximum.reduceat(last, begin)
        segments = np.floor((end - origin) / self.segment + 1e-9) + 1
        longest = (np.floor((last - time[start[:-1]]) / self.segment) + 1).sum()
        if segments.max() > _MOST_SEGMENTS or longest > _MOST_GAPS * len(time) + _MOST_SEGMENTS:
            raise TraceError(
                f"{self.path}: a job of {float((end - origin).max()):.3g} s has more segments of {self.segment:g} s "
                "than can be; are its times in seconds? Else choose longer segments"
            )
        names = [list(known) for known in self._codes]
        told = tuple(names[0][code] for code in jobs.tolist())
        active = np.bincount(np.unique(place * len(names[1]) + node) // len(names[1]), minlength=len(jobs))
        idle = np.array([max(0, self._nodes.get(job, 0) - count) for job, count in zip(told, active, strict=True)])
        first, offset, means = segment_means(start, time, value, origin[place], float(self.segment))
        return MetricBlock(
            jobs=told,
            filesystems=tuple(names[2]),
            node_names=tuple(names[1]),
            job=place.astype(np.int64),
            node=node,
            filesystem=system,
            metric=self._metrics[metric],
            first=first,
            offset=offset,
            values=means,
            segments=segments.astype(np.int64),
            duration=np.array(
                [self._lengths.get(*one) for one in zip(told, end - origin + step, strict=True)], np.float64
            ),
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
