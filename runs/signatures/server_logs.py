"""Samples cut out of what storage servers counted: CSV, LMT's HDF5, TOKIO's HDF5; and the times of jobs."""

import math
import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...model.arrays import Floats, Frozen
from ...model.errors import SelectionError, TraceError
from ...otf2io.files.regular import open_regular
from ..collection.csv_rows import csv_rows
from .sample import MOST_VALUES, Sample, resampled

_HDF5: Final = (".h5", ".hdf5", ".h5lmt", ".nc")
_TOKIO: Final = {way: (f"datatargets/{way}rates", f"datatargets/{way}bytes") for way in ("read", "write")}
_TOKIO_TIMES: Final = "datatargets/timestamps"
_LMT: Final = {"read": "OSTReadGroup/OSTBulkReadDataSet", "write": "OSTWriteGroup/OSTBulkWriteDataSet"}
_LMT_TIMES: Final = "FSStepsGroup/FSStepsDataSet"
_MOST_NUMBERS: Final = 2**27
"""Numbers of an HDF5 data set that are read: 1 GiB."""
_MOST_MISSING: Final = 0.5
_MOST_JOBS: Final = 100_000
_FASTEST: Final = 2.0**60
"""B/s that no file system has: what claims more is missing, so that sums of values and their squares are finite."""
_TEXT: Final = 1000


@dataclass(frozen=True)
class JobTimes:
    """When a job ran, in seconds since the epoch."""

    name: str
    start: float
    end: float


class ThroughputLog(Frozen):
    """Throughput of a file system at regular times.

    Attributes
    ----------
    path : Path
    start : float
        Begin of the first interval in s since the epoch.
    interval : float
        In s.
    values : float64 (n,)
        Mean of each interval in bytes/s.
    missing : int
        Values that the log does not have, or that are negative; they are interpolated.
    """

    path: Path
    start: float
    interval: float
    values: Floats
    missing: int

    @property
    def end(self) -> float:
        """End of the last interval in s since the epoch."""
        return self.start + len(self.values) * self.interval

    def sample(self, job: JobTimes, interval: float | None = None) -> Sample | str:
        """Return what was counted while a job ran, or a sentence that says why there is nothing.

        Parameters
        ----------
        interval : float, optional
            Of the sample in s; default: that of the log.
        """
        if job.start < self.start - self.interval or job.end > self.end + self.interval:
            return (
                f"it ran from {job.start:.10g} to {job.end:.10g} s since the epoch, "
                f"and the log is from {self.start:.10g} to {self.end:.10g}"
            )
        first, last = max(0.0, job.start - self.start), min(job.end, self.end) - self.start
        step = interval or self.interval
        if last - first < 2 * step:
            return f"it ran for {job.end - job.start:.6g} s only, of which an interval of {step:.6g} s shows nothing"
        return Sample(job.name, resampled(self.values, self.interval, first, last, step), step)


def read_log(path: str | os.PathLike[str], direction: str = "total") -> ThroughputLog:
    """Read a log of a storage system's throughput.

    A CSV file has the columns ``time`` (s since the epoch, begin of the interval) and ``bytes_per_second``. An HDF5
    file is one of LMT (``OSTBulkReadDataSet``, …) or TOKIO (``datatargets/readrates``, …), whose targets are added up.

    Parameters
    ----------
    path : path
    direction : {"read", "write", "total"}
        Of an HDF5 file; a CSV file has one throughput only.

    Raises
    ------
    TraceError
        If the file cannot be used.
    """
    path = Path(path)
    if path.suffix.lower() in _HDF5:
        times, values = _read_hdf5(path, direction)
    else:
        times, values = _read_csv(path)
    return _regular(path, times, values)


def read_jobs(path: str | os.PathLike[str]) -> list[JobTimes]:
    """Read a CSV file with the columns ``name``, ``start``, ``end``, in s since the epoch; TraceError if it is none."""
    jobs = []
    for line, (name, start, end) in _rows(Path(path), ("name", "start", "end")):
        try:
            job = JobTimes(name, float(start), float(end))
        except ValueError:
            raise TraceError(f"{path}: line {line}: start and end are not both numbers of seconds") from None
        if not (math.isfinite(job.start) and math.isfinite(job.end) and job.end > job.start):
            raise TraceError(f"{path}: line {line}: the job does not end after its start")
        jobs.append(job)
        if len(jobs) > _MOST_JOBS:
            raise TraceError(f"{path}: more than {_MOST_JOBS:,} jobs; give those of one application only")
    return jobs


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """Give line and cells of the wanted columns of a CSV file; its first line names the columns."""
    rows = csv_rows(path)
    header = [name.strip() for name in next(rows, (1, []))[1]]
    missing = [name for name in columns if name not in header]
    if missing:
        raise TraceError(f"{path}: its first line has no column {missing[0]!r}; needed: {','.join(columns)}")
    places = [header.index(name) for name in columns]
    wanted, last = itemgetter(*places), max(places)
    for line, row in rows:
        if len(row) <= last:
            raise TraceError(f"{path}: line {line} has {len(row)} columns only")
        yield line, [cell.strip()[:_TEXT] for cell in wanted(row)]


def _read_csv(path: Path) -> tuple[Floats, Floats]:
    times, values = array("d"), array("d")
    for line, (time, value) in _rows(path, ("time", "bytes_per_second")):
        try:
            times.append(float(time))
            values.append(float(value) if value else math.nan)
        except ValueError:
            raise TraceError(f"{path}: line {line}: time and bytes_per_second are not both numbers") from None
    return np.frombuffer(times, np.float64), np.frombuffer(values, np.float64)


def _read_hdf5(path: Path, direction: str) -> tuple[Floats, Floats]:
    import h5py

    try:
        with open_regular(path), h5py.File(path, "r") as file:
            times, total = _of_targets(path, file, ("read", "write") if direction == "total" else (direction,))
    except TraceError:
        raise
    except (RuntimeError, ValueError, TypeError) as error:
        raise TraceError(f"{path}: its data sets cannot be read: {' '.join(str(error).split())[:200]}") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise TraceError(f"{path}: not a sound HDF5 file") from None
    if times.ndim != 1 or total.shape != times.shape:
        raise TraceError(f"{path}: {total.size} values at {times.size} times")
    return times, total


def _of_targets(path: Path, file: Any, ways: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Return the times, and the throughput of all targets together, of a file of LMT or TOKIO."""
    if (times := _numbers(path, file, _LMT_TIMES)) is not None:
        found, axis = [_numbers(path, file, _LMT[way]) for way in ways], 0
    elif (times := _numbers(path, file, _TOKIO_TIMES)) is not None:
        first = ((_numbers(path, file, name) for name in _TOKIO[way]) for way in ways)
        found, axis = [next((one for one in each if one is not None), None) for each in first], 1
    else:
        raise TraceError(f"{path}: an HDF5 file of neither LMT nor TOKIO: it has no throughput of targets")
    parts = [one.sum(axis=axis) for one in found if one is not None]
    if len(parts) < len(ways):
        raise TraceError(f"{path}: it has no throughput of targets for {' and '.join(ways)}")
    return times, np.sum(parts, axis=0)


def _numbers(path: Path, file: Any, name: str) -> Floats | None:
    """Return the numbers of a data set, None where there is none, without leaving the file that was given."""
    import h5py

    data = file
    for part in name.split("/"):
        link = data.get(part, getlink=True) if isinstance(data, h5py.Group) else None
        if link is None:
            return None
        if not isinstance(link, h5py.HardLink):
            raise TraceError(f"{path}: {name} is a link to elsewhere, which is not followed; give the file that has it")
        data = data[part]
    if not isinstance(data, h5py.Dataset):
        raise TraceError(f"{path}: {name} is no data set")
    if data.is_virtual or data.external:
        raise TraceError(f"{path}: the numbers of {name} are in other files, which are not read; copy them into one")
    if data.size is None or data.size > _MOST_NUMBERS:
        raise TraceError(f"{path}: {name} has {data.size or 0:,} numbers, none or more than fit; cut it to fewer days")
    return np.asarray(data[...], np.float64)


def _regular(path: Path, times: Floats, values: Floats) -> ThroughputLog:
    """Return a log at regular times, with what is missing interpolated."""
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[order]
    kept = np.isfinite(times)
    times, values = times[kept], values[kept]
    if len(times) < 2:
        raise TraceError(f"{path}: a log of {len(times)} values tells nothing")
    steps = np.diff(times)
    if not (steps > 0).any():
        raise TraceError(f"{path}: all its values are of one time")
    interval = float(np.median(steps[steps > 0]))
    places = np.rint((times - times[0]) / interval)
    count = int(places[-1]) + 1
    if count > max(MOST_VALUES, 4 * len(times)):
        raise TraceError(f"{path}: gaps of more than three quarters of the time between {times[0]:g} and {times[-1]:g}")
    grid = np.full(count, np.nan)
    sound = np.isfinite(values) & (values >= 0) & (values <= _FASTEST)
    grid[places[sound].astype(np.int64)] = values[sound]
    missing = int(np.isnan(grid).sum())
    if missing > _MOST_MISSING * count:
        raise TraceError(f"{path}: {missing:,} of {count:,} values are missing, negative or beyond any machine")
    there = np.flatnonzero(~np.isnan(grid))
    return ThroughputLog(path, float(times[0]), interval, np.interp(np.arange(count), there, grid[there]), missing)


def job_samples(
    log: ThroughputLog, jobs: list[JobTimes], interval: float | None = None
) -> tuple[list[Sample], list[tuple[JobTimes, str]]]:
    """Return the samples of the jobs, and the jobs without a sample, each with the reason.

    Raises SelectionError if `interval` is shorter than the log's.
    """
    if interval is not None and interval < log.interval * (1 - 1e-9):
        raise SelectionError(f"an interval of {interval:.6g} s is shorter than the log's, {log.interval:.6g} s")
    cut = [(job, log.sample(job, interval)) for job in jobs]
    samples = [one for _, one in cut if isinstance(one, Sample)]
    return samples, [(job, one) for job, one in cut if isinstance(one, str)]
