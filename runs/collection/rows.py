"""What a collection holds of a run: the rows of its tables, each a frozen record whose fields are the columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ...layers.summary.statistics import LayerStatistics
from ...model.metrics import columns_of, described
from ...model.metrics import metric as column

READ: Final = "read"
FAILED: Final = "failed"

SIGNAL_BINS: Final = 512
"""Bins of a signal, whatever the length of the run."""


METRICS_OF_LAYERS: Final = {one.name.replace("request_bytes", "request"): one for one in columns_of(LayerStatistics)}
"""By the names that they have as columns."""


def _known(sentence: str, **declared: Any) -> Any:
    """Declare a column that is a metric, null where it is not known."""
    return column(sentence, default=None, **declared)


def _shared(name: str, default: float | None = None) -> Any:
    """Declare a column that is a metric of a layer."""
    one = METRICS_OF_LAYERS[name]
    return column(one.sentence, unit=one.unit, adds=one.adds, needs=one.needs, default=default)


@described
@dataclass(frozen=True, kw_only=True)
class JobRow:
    """A run: one row a trace, also where the trace cannot be used. All but the first five are null then.

    What a recorder does not provide is null too: operations and times where it counts bytes by intervals, bytes where
    it tells of several layers without handles, for nobody knows then which of them the program itself moved. Where it
    has counters by file these tell it: what no higher layer did on the same files, and what that took.

    Attributes
    ----------
    job : str
        The trace's full path, the key of all tables.
    name : str
        What the run is called: the trace's folder, or its file.
    status : str
        ``read``, or ``failed``.
    reason : str or None
        Why the trace could not be read.
    content : str or None
        BLAKE2b of the trace's files in hexadecimal digits: what a later call goes by.
    settings : str or None
        With what the trace was read, as JSON; where that differs, it is read anew.
    engine : str or None
        What read the events.
    recorder : str or None
        What recorded the run.
    layers_recorded : tuple of str
        Layers whose operations would have been recorded had there been any; empty where nobody knows.
    directions_recorded : tuple of str
        Which of ``read``, ``write``, ``flush`` and ``metadata`` would have been; empty where nobody knows.
    findings_sought : tuple of str
        Ids of the findings that could have been found in what is recorded.
    start_utc : datetime or None
        Null where the trace does not know.
    layers : tuple of str
        Highest first.
    mpi_functions : tuple of str
        Functions of MPI that do no I/O in which its ranks are longest, without start and end.
    mpi_s : tuple of float
        How long all ranks together are in each of them.
    cause : str or None
        What makes the time in I/O, or where most of it is spent, as the headline of the run has it.
    damaged : bool or None
    """

    job: str
    name: str
    status: str
    reason: str | None = None
    content: str | None = None
    settings: str | None = None
    engine: str | None = None
    recorder: str | None = None
    layers_recorded: tuple[str, ...] = ()
    directions_recorded: tuple[str, ...] = ()
    findings_sought: tuple[str, ...] = ()
    start_utc: datetime | None = None
    duration_s: float | None = _known(
        "Length of the run, or of the window of it that was read.", unit="s", title="length"
    )
    ranks: int | None = _known("Processes.")
    nodes: int | None = _known("Compute nodes, where it is known of each rank on which it ran.")
    locations: int | None = _known("Locations, threads mostly.")
    events: int | None = _known("Events that were read.")
    io_events: int | None = _known("Events of I/O among them.")
    layers: tuple[str, ...] = ()
    operations: int | None = _known(
        "The program's own transfers, those through handles without one of a higher layer above.", needs=("operations",)
    )
    bytes_read: float | None = _known("Moved by own reads, of all layers.", unit="byte", title="read")
    bytes_written: float | None = _known("Moved by own writes, of all layers.", unit="byte", title="written")
    metadata_operations: int | None = _known(
        "Handles made and destroyed, seeks, deletions, locks, of all layers.", needs=("metadata",), title="metadata"
    )
    mpi_functions: tuple[str, ...] = ()
    mpi_s: tuple[float, ...] = ()
    failed_opens: int | None = _known("Calls that open a file in vain.", title="failed opens")
    io_s: float | None = _known(
        "Time in which at least one operation, a flush too, was under way in any layer on any rank.",
        unit="s",
        title="I/O time",
        needs=("operations",),
    )
    rank_io_s: float | None = _known(
        "Summed duration of the program's own operations, divided by the number of ranks.",
        unit="s",
        needs=("operations",),
    )
    cost_s: float | None = _known(
        "Time in calls of I/O, flushes, opens and the like too, summed over all ranks.",
        unit="s",
        title="I/O cost",
        needs=("operations",),
    )
    io_share: float | None = _known(
        "Share of the run that the rank which is longest in I/O spends in its calls of I/O.",
        adds="none",
        title="share of the run",
    )
    findings: int | None = _known("Findings in all.")
    critical: int | None = _known("Findings of the severity critical.")
    warnings: int | None = _known("Findings of the severity warning.")
    cause: str | None = None
    damaged: bool | None = None
    events_lost: int | None = _known("Events that the damage cost.")
    set_aside_operations: int | None = _known("Operations on files that do not count.")

    @property
    def usable(self) -> bool:
        """Whether the trace could be read."""
        return self.status == READ


@described
@dataclass(frozen=True, kw_only=True)
class LayerRow:
    """What a layer did in one direction. What a recorder does not provide is null.

    Attributes
    ----------
    job, layer : str
    direction : str
        ``read``, ``write``, ``flush`` or ``metadata``; of the last two only the operations are known, and of flushes
        the time.
    above : str or None
        The layer above whose handles this one serves; of several the one that moved most.
    periodic : bool or None
    phase_start_s, phase_end_s, phase_bytes : tuple of float
        Of each phase, from the trace's start; of more than 1024 the first.
    """

    job: str
    layer: str
    direction: str
    operations: int | None = _shared("operations")
    bytes: float = _shared("bytes", 0.0)
    busy_s: float | None = _shared("busy_s")
    summed_s: float | None = _shared("summed_s")
    slowest_s: float | None = _shared("slowest_s")
    bandwidth: float | None = _shared("bandwidth")
    files: int | None = _shared("files")
    handles: int | None = _shared("handles")
    ranks: int | None = _shared("ranks")
    own_operations: int | None = _shared("own_operations")
    own_bytes: float | None = _shared("own_bytes")
    undefined_bytes_operations: int | None = _shared("undefined_bytes_operations")
    collective_operations: int | None = _known("Operations of collective calls.", needs=("operations", "collective"))
    non_blocking_operations: int | None = _known(
        "Operations whose calls return before they are done.", needs=("operations",)
    )
    seeks: int | None = _known("Seeks among the operations on metadata, where they are counted.")
    request_min: int | None = _shared("request_min")
    request_p50: int | None = _shared("request_p50")
    request_p90: int | None = _shared("request_p90")
    request_max: int | None = _shared("request_max")
    imbalance: float | None = _known(
        "Time of the rank that is longest in operations, over the mean of the ranks that take part; 1 where all take "
        "as long.",
        adds="none",
        needs=("operations", "ranks"),
    )
    above: str | None = None
    amplification: float | None = _known("Bytes of this layer by descent from `above`, per byte there.")
    fan_out: float | None = _known("Operations of this layer beneath one call of `above`.")
    periodic: bool | None = None
    period_s: float | None = _known("The period, where there is one.", unit="s")
    period_low_s: float | None = _known("Lower end of its interval of 95 %.", unit="s")
    period_high_s: float | None = _known("Upper end of it.", unit="s")
    confidence: float | None = _known("That the period lies within 10 % of the truth.")
    recurrence_s: float | None = _known("Mean time between the starts of phases.", unit="s")
    jitter: float | None = _known("Coefficient of variation of that time.")
    phases: int | None = _known("How many phases there are.")
    phase_start_s: tuple[float, ...] = ()
    phase_end_s: tuple[float, ...] = ()
    phase_bytes: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FindingRow:
    """A finding.

    Attributes
    ----------
    job : str
    id : str
        Such as ``small-requests``.
    severity : str
        ``critical``, ``warning`` or ``info``.
    layer, text, advice : str
    evidence : str
        The numbers behind it, as JSON.
    """

    job: str
    id: str
    severity: str
    layer: str
    text: str
    advice: str
    evidence: str
    cost_s: float | None = _known("What it costs the run at most.", unit="s", title="cost")


@described
@dataclass(frozen=True, kw_only=True)
class SignalRow:
    """The bandwidth of a layer in one direction, averaged over `SIGNAL_BINS` bins of equal width.

    Attributes
    ----------
    job, layer, direction : str
    values : tuple of float
        Bytes per second; their sum times `bin_s` is the bytes moved.
    """

    job: str
    layer: str
    direction: str
    start_s: float = column("Begin of the first bin, from the trace's start.", unit="s")
    bin_s: float = column("Width of a bin.", unit="s")
    values: tuple[float, ...]


METRICS: Final = (
    "md_read", "md_file_create", "md_file_delete", "md_other", "read_bytes", "read_calls", "write_bytes", "write_calls",
)  # fmt: skip
"""Opens without creation and closes; files created; deleted; all else that moves no data; bytes/s and calls/s."""


@described
@dataclass(frozen=True, kw_only=True)
class SegmentRow:
    """Mean rate of one metric on one node and file system in segments of time (Betke & Kunkel, ISC'20, §3).

    Attributes
    ----------
    job, node : str
    filesystem : str
        Kind and mount point, as the trace knows them; empty where it does not.
    metric : str
        One of `METRICS`.
    values : tuple of float
        Per second: bytes, or operations. The last is averaged over what there is of its segment.
    """

    job: str
    node: str
    filesystem: str
    metric: str
    start_s: float = column("Begin of the first segment, from the trace's start.", unit="s")
    segment_s: float = column(
        "Length of a segment; a power of two times what was asked for where that gives too many of them.", unit="s"
    )
    values: tuple[float, ...]


@described
@dataclass(frozen=True, kw_only=True)
class LoopRow:
    """What the program did over and over: a loop that is in no other; none where single operations are unknown.

    Attributes
    ----------
    job : str
    layers : tuple of str
        Those that take part, highest first.
    text : str
        An iteration in words.
    steps : str
        The program's own calls in an iteration: a JSON list of layer, kind, bytes of one call (null where they vary),
        kind of file, and how often; those of loops within it as often as they are done in all. Then the number of ranks
        (0 for all of the loop), where bytes vary their mean, and true where it is a mean of how often.
    timing : str
        ``clock``, ``regular`` or ``irregular``.
    iteration_begin_s, iteration_end_s : tuple of float
        Over all ranks, from the trace's start; empty for a loop of more than 4,096 iterations.
    """

    job: str
    loop: int = column("Number of the loop, by which iterations join.")
    count: int = column("How many iterations there are.", title="iterations")
    ranks: int = column("Processes that do it.", adds="distinct")
    layers: tuple[str, ...]
    text: str
    steps: str
    begin_s: float = column("Begin of the first iteration, from the trace's start.", unit="s", adds="none")
    end_s: float = column("End of the last one.", unit="s", adds="none")
    interval_s: float = column("Median time from one begin to the next.", unit="s", title="interval", adds="none")
    jitter: float = column("Coefficient of variation of that time.", adds="none")
    timing: str
    bits: float = column("What telling the run by this loop saves against its steps one by one.", adds="none")
    iteration_begin_s: tuple[float, ...] = ()
    iteration_end_s: tuple[float, ...] = ()
    threads: int | None = _known("Threads that do it, where they are more than the processes.")


@described
@dataclass(frozen=True, kw_only=True)
class IterationRow:
    """What a layer did in the iterations of a loop; each list has one value an iteration.

    Attributes
    ----------
    job, layer : str
    bytes_read, bytes_written : tuple of float
    operations, flushes, metadata_operations : tuple of int
        Transfers; flushes; the program's own opens, closes and deletions.
    busy_s : tuple of float
        Time in which at least one operation of the layer was under way on any rank.
    summed_s : tuple of float
        Time of its operations, summed over all ranks; empty in collections of earlier versions.
    """

    job: str
    loop: int = column("Number of the loop.", adds="none")
    layer: str
    bytes_read: tuple[float, ...]
    bytes_written: tuple[float, ...]
    operations: tuple[int, ...]
    flushes: tuple[int, ...]
    metadata_operations: tuple[int, ...]
    busy_s: tuple[float, ...]
    summed_s: tuple[float, ...] = ()


Row = JobRow | LayerRow | FindingRow | SignalRow | SegmentRow | LoopRow | IterationRow

TABLES: Final[Mapping[str, type[Row]]] = {
    "job": JobRow,
    "job_layer": LayerRow,
    "finding": FindingRow,
    "signal": SignalRow,
    "segment": SegmentRow,
    "loop": LoopRow,
    "iteration": IterationRow,
}
"""Each table with the record that its rows are."""


ROWS_OF: Final = {name: f"{name.removeprefix('job_')}s" for name in TABLES if name != "job"}
"""The fields of a `Run` with the rows of each table but that of jobs."""


@dataclass(frozen=True)
class Run:
    """All that a collection holds of one run; what is compared with other runs."""

    job: JobRow
    layers: tuple[LayerRow, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    signals: tuple[SignalRow, ...] = ()
    segments: tuple[SegmentRow, ...] = ()
    loops: tuple[LoopRow, ...] = ()
    iterations: tuple[IterationRow, ...] = ()

    def rows(self, table: str) -> tuple[Row, ...]:
        """Return the rows of one of `TABLES`."""
        found: tuple[Row, ...] = (self.job,) if table == "job" else getattr(self, ROWS_OF[table])
        return found
