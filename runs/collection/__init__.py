"""A collection of runs: what each trace says in a few rows, in tables that any tool can query."""

from .read import Settings, read_run
from .rows import TABLES, FindingRow, JobRow, LayerRow, Run, SegmentRow, SignalRow
from .tables import Collection

__all__ = [
    "TABLES",
    "Collection",
    "FindingRow",
    "JobRow",
    "LayerRow",
    "Run",
    "SegmentRow",
    "Settings",
    "SignalRow",
    "read_run",
]
