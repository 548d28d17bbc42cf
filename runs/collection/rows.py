"""What a collection holds of a run: the rows of its tables, each a frozen record whose fields are the columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

READ: Final = "read"
FAILED: Final = "failed"

SIGNAL_BINS: Final = 512
"""Bins of a signal, whatever the length of the run."""


@dataclass(frozen=True, kw_only=True)
class JobRow:
    """A run: one row a trace, also where the trace cannot be used. All but the first five are null then.

    What a recorder does not tell is null too: operations and times where it counts bytes by intervals, bytes where it
    tells of several layers without handles, for nobody knows then which of them the program itself moved.

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
    duration_s : float or None
    ranks, nodes, locations : int or None
        Nodes only where it is known of each rank on which it ran.
    events, io_events : int or None
        That were read.
    layers : tuple of str
        Highest first.
    operations : int or None
        The program's own transfers, those through handles without one of a higher layer above.
    bytes_read, bytes_written : float or None
        Moved by them. Own operations of several layers are different ones, so these may be added up.
    metadata_operations : int or None
        Handles made and destroyed, seeks, deletions, locks, of all layers.
    io_s : float or None
        Time in which at least one operation, a flush too, was under way in any layer on any rank.
    rank_io_s : float or None
        Summed duration of the program's own operations, divided by the number of ranks.
    findings, critical, warnings : int or None
        Findings in all, and those of the two higher severities.
    damaged : bool or None
    events_lost : int or None
    set_aside_operations : int or None
        Operations on files that do not count.
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
    duration_s: float | None = None
    ranks: int | None = None
    nodes: int | None = None
    locations: int | None = None
    events: int | None = None
    io_events: int | None = None
    layers: tuple[str, ...] = ()
    operations: int | None = None
    bytes_read: float | None = None
    bytes_written: float | None = None
    metadata_operations: int | None = None
    io_s: float | None = None
    rank_io_s: float | None = None
    findings: int | None = None
    critical: int | None = None
    warnings: int | None = None
    damaged: bool | None = None
    events_lost: int | None = None
    set_aside_operations: int | None = None

    @property
    def usable(self) -> bool:
        """Whether the trace could be read."""
        return self.status == READ


@dataclass(frozen=True, kw_only=True)
class LayerRow:
    """What a layer did in one direction.

    Attributes
    ----------
    job, layer : str
    direction : str
        ``read``, ``write``, ``flush`` or ``metadata``; of the last two only the operations are known, and of flushes
        the time.
    operations : int or None
        Null, as others are, where the recorder does not tell them.
    bytes : float
    busy_s : float or None
        Time in which at least one operation was under way.
    summed_s : float or None
        Sum of the durations.
    bandwidth : float or None
        Bytes per second of busy time.
    files, handles, ranks : int or None
        Distinct ones of the operations.
    own_operations : int or None
    own_bytes : float or None
        Through handles that have none of a higher layer above.
    undefined_bytes_operations : int or None
        Operations whose bytes the trace does not know.
    collective_operations, non_blocking_operations : int or None
    request_min, request_p50, request_p90, request_max : int or None
        Sizes asked for in bytes.
    above : str or None
        The layer above whose handles this one serves; of several the one that moved most.
    amplification : float or None
        Bytes of this layer by descent from `above`, per byte there.
    fan_out : float or None
        Operations of this layer beneath one call of `above`.
    periodic : bool or None
    period_s, period_low_s, period_high_s : float or None
        The period and its interval, where there is one.
    confidence : float or None
    recurrence_s, jitter : float or None
        Mean time between the starts of phases, and its coefficient of variation.
    phase_start_s, phase_end_s, phase_bytes : tuple of float
        Of each phase, from the trace's start; of more than 1024 the first.
    phases : int or None
        How many there are.
    """

    job: str
    layer: str
    direction: str
    operations: int | None
    bytes: float = 0.0
    busy_s: float | None = None
    summed_s: float | None = None
    bandwidth: float | None = None
    files: int | None = None
    handles: int | None = None
    ranks: int | None = None
    own_operations: int | None = None
    own_bytes: float | None = None
    undefined_bytes_operations: int | None = None
    collective_operations: int | None = None
    non_blocking_operations: int | None = None
    request_min: int | None = None
    request_p50: int | None = None
    request_p90: int | None = None
    request_max: int | None = None
    above: str | None = None
    amplification: float | None = None
    fan_out: float | None = None
    periodic: bool | None = None
    period_s: float | None = None
    period_low_s: float | None = None
    period_high_s: float | None = None
    confidence: float | None = None
    recurrence_s: float | None = None
    jitter: float | None = None
    phases: int | None = None
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


@dataclass(frozen=True, kw_only=True)
class SignalRow:
    """The bandwidth of a layer in one direction, averaged over `SIGNAL_BINS` bins of equal width.

    Attributes
    ----------
    job, layer, direction : str
    start_s : float
        Begin of the first bin, from the trace's start.
    bin_s : float
        Width of a bin.
    values : tuple of float
        Bytes per second; their sum times `bin_s` is the bytes moved.
    """

    job: str
    layer: str
    direction: str
    start_s: float
    bin_s: float
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class SegmentRow:
    """Mean rate of one metric on one node and file system in segments of time (Betke & Kunkel, ISC'20, §3).

    Attributes
    ----------
    job, node : str
    filesystem : str
        Kind and mount point, as the trace knows them; empty where it does not.
    metric : str
        One of `iostrata.runs.collection.segments.METRICS`.
    start_s : float
        Begin of the first segment, from the trace's start.
    segment_s : float
        Length of a segment; a power of two times what was asked for where that gives too many of them.
    values : tuple of float
        Per second: bytes, or operations. The last is averaged over what there is of its segment.
    """

    job: str
    node: str
    filesystem: str
    metric: str
    start_s: float
    segment_s: float
    values: tuple[float, ...]


Row = JobRow | LayerRow | FindingRow | SignalRow | SegmentRow

TABLES: Final[Mapping[str, type[Row]]] = {
    "job": JobRow,
    "job_layer": LayerRow,
    "finding": FindingRow,
    "signal": SignalRow,
    "segment": SegmentRow,
}
"""Each table with the record that its rows are."""


@dataclass(frozen=True)
class Run:
    """All that a collection holds of one run; what is compared with other runs."""

    job: JobRow
    layers: tuple[LayerRow, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    signals: tuple[SignalRow, ...] = ()
    segments: tuple[SegmentRow, ...] = ()

    def rows(self, table: str) -> tuple[Row, ...]:
        """Return the rows of one of `TABLES`."""
        if table == "job":
            return (self.job,)
        found: dict[str, tuple[Row, ...]] = {
            "job_layer": self.layers,
            "finding": self.findings,
            "signal": self.signals,
            "segment": self.segments,
        }
        return found[table]
