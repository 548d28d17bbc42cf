"""A made corpus of jobs with the limits and shares that Betke & Kunkel publish, and planted problem jobs.

Each job is a few nodes over a few segments of 10 minutes. Its values are drawn so that training with all jobs comes
near the limits of the paper's Table 5, 41 % of the jobs have a Utilization of 0, and 65 % of the others a Problem-Time
of 1; the planted jobs are of three kinds that its section 6 tells of.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MIB = 2.0**20
PUBLISHED = {
    "md_file_create": (0.17, 1.34),
    "md_file_delete": (0.0, 0.41),
    "md_mod": (0.0, 0.67),
    "md_other": (20.87, 79.31),
    "md_read": (371.17, 7084.16),
    "osc_read_bytes": (1.98 * MIB, 93.58 * MIB),
    "osc_read_calls": (5.65, 32.23),
    "osc_write_bytes": (8.17 * MIB, 64.64 * MIB),
    "osc_write_calls": (2.77, 17.37),
    "read_bytes": (28.69 * MIB, 276.09 * MIB),
    "read_calls": (348.91, 1573.45),
    "write_bytes": (9.84 * MIB, 80.10 * MIB),
    "write_calls": (198.56, 6149.64),
}
"""Table 5, bytes in place of MiB."""
METRICS = tuple(PUBLISHED)
LOW = np.array([low for low, _ in PUBLISHED.values()])
HIGH = np.array([high for _, high in PUBLISHED.values()])
SEGMENT_S = 600.0
KINDS = ("one writer", "deletes without end", "few readers")
QUIET_SHARE = 0.41
ALWAYS_SHARE = 0.65

SCHEMA = pa.schema(
    [
        ("job", pa.string()),
        ("node", pa.string()),
        ("filesystem", pa.string()),
        ("metric", pa.string()),
        ("start_s", pa.float64()),
        ("segment_s", pa.float64()),
        ("values", pa.list_(pa.float64())),
    ]
)


def _background(generator: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    """Return values far below the lower limits, most of them next to nothing."""
    return LOW[:, None] * 0.5 * generator.random(shape) ** 8


def job_values(generator: np.random.Generator) -> np.ndarray:
    """Return the values of an ordinary job, float64 (nodes, metrics, segments)."""
    nodes = 1 if generator.random() < 0.3 else int(min(64, 2 + generator.geometric(0.12)))
    quiet = generator.random() < QUIET_SHARE
    always = generator.random() < ALWAYS_SHARE
    # Jobs that do nothing but I/O are short, those that do none long.
    segments = int(generator.integers(1, 3)) if not quiet and always else int(generator.integers(6, 48))
    values = _background(generator, (nodes, len(METRICS), segments))
    if quiet:
        return values
    busy = np.ones(segments, bool) if always else np.zeros(segments, bool)
    if not always:
        busy[generator.choice(segments, max(1, segments // 5), replace=False)] = True
    active = generator.choice(len(METRICS), 4, replace=False)
    # Most jobs read and write on one node only, or on a few.
    movers = nodes if generator.random() < 0.25 else max(1, int(nodes * generator.beta(0.6, 3.0)))
    for metric in active:
        level = LOW[metric] + (HIGH[metric] - LOW[metric]) * generator.beta(1.0, 1.5, (movers, int(busy.sum()))) * 1.05
        values[np.ix_(np.arange(movers), [metric], np.flatnonzero(busy))] = level[:, None, :]
    return values


def problem_values(kind: str, generator: np.random.Generator) -> np.ndarray:
    """Return the values of a job with a problem, float64 (nodes, metrics, segments)."""
    nodes, segments = int(generator.integers(40, 64)), int(generator.integers(12, 40))
    values = _background(generator, (nodes, len(METRICS), segments))

    def raise_to(metric: str, movers: slice, factor: float) -> None:
        row = METRICS.index(metric)
        values[movers, row] = HIGH[row] * factor * generator.uniform(1.2, 3.0, values[movers, row].shape)

    if kind == "one writer":
        raise_to("write_bytes", slice(0, 1), 1.0)
        raise_to("write_calls", slice(0, 1), 1.0)
    elif kind == "deletes without end":
        raise_to("md_file_delete", slice(0, 1), 1.0)
        raise_to("md_file_create", slice(0, 1), 1.0)
    else:
        raise_to("read_bytes", slice(0, 2), 1.0)
        raise_to("md_read", slice(0, 2), 1.0)
    return values


def corpus(jobs: int, planted: int, seed: int) -> Iterator[tuple[str, str, np.ndarray]]:
    """Give name, kind (empty for an ordinary job) and values of each job."""
    generator = np.random.default_rng(seed)
    places = set(generator.choice(jobs, planted, replace=False).tolist())
    turn = 0
    for place in range(jobs):
        if place in places:
            kind = KINDS[turn % len(KINDS)]
            turn += 1
            yield f"{place:07d}", kind, problem_values(kind, generator)
        else:
            yield f"{place:07d}", "", job_values(generator)


def write(path: Path, jobs: int, planted: int, seed: int) -> tuple[dict[str, str], int]:
    """Write a corpus as a table of segments; return the kind of each planted job, and how many values there are."""
    kinds, count = {}, 0
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        held: list[tuple[str, np.ndarray]] = []
        for name, kind, values in corpus(jobs, planted, seed):
            count += values.size
            if kind:
                kinds[name] = kind
            held.append((name, values))
            if len(held) == 1000:
                writer.write_table(_table(held))
                held = []
        if held:
            writer.write_table(_table(held))
    return kinds, count


def _table(jobs: list[tuple[str, np.ndarray]]) -> pa.Table:
    series = [(len(values), values.shape[2]) for _, values in jobs]
    names = np.repeat([name for name, _ in jobs], [nodes * len(METRICS) for nodes, _ in series])
    nodes = np.concatenate([np.repeat([f"n{node:03d}" for node in range(count)], len(METRICS)) for count, _ in series])
    metrics = np.tile(METRICS, sum(count for count, _ in series))
    lengths = np.repeat([length for _, length in series], [count * len(METRICS) for count, _ in series])
    flat = np.concatenate([values.reshape(-1) for _, values in jobs])
    rows = len(names)
    return pa.table(
        [
            pa.array(names),
            pa.array(nodes),
            pa.array(["lustre"] * rows),
            pa.array(metrics),
            pa.array(np.zeros(rows)),
            pa.array(np.full(rows, SEGMENT_S)),
            pa.ListArray.from_arrays(pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32)), pa.array(flat)),
        ],
        schema=SCHEMA,
    )
