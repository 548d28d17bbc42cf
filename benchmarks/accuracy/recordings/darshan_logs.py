"""Signals of Darshan logs: bins of the heat map, and segments of extended tracing (DXT); read by pydarshan."""

import importlib.util
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from iostrata.signals.construction import step_signal
from iostrata.signals.step import StepSignal

MODULES = ("DXT_POSIX", "DXT_MPIIO")


def available() -> bool:
    """Whether pydarshan is installed (`pip install darshan`)."""
    return importlib.util.find_spec("darshan") is not None


def darshan_signals(folder: Path) -> Iterator[tuple[str, str, str, StepSignal]]:
    """Yield log, module, direction and signal of all logs in a folder, where anything was moved."""
    import darshan

    for path in sorted(folder.glob("*.darshan")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = darshan.DarshanReport(str(path), read_all=False)
            for module in MODULES:
                if module in report.modules:
                    report.mod_read_all_dxt_records(module, dtype="pandas")
                    yield from _segments(path.stem, module, report.records.get(module))
            if "HEATMAP" in report.modules:
                report.read_all_heatmap_records()
                yield from _heatmaps(path.stem, report.heatmaps)


def _segments(log: str, module: str, records: object) -> Iterator[tuple[str, str, str, StepSignal]]:
    for direction in ("write", "read"):
        tables = [record[f"{direction}_segments"] for record in getattr(records, "_records", [])]
        tables = [table for table in tables if len(table)]
        if not tables:
            continue
        columns = ("start_time", "end_time", "length")
        start, end, volume = (np.concatenate([np.asarray(t[c], dtype=float) for t in tables]) for c in columns)
        end = np.maximum(start, end)
        if volume.sum() > 0 and end.max() > start.min():
            yield log, module, direction, step_signal(start, end, volume)


def _heatmaps(log: str, heatmaps: dict[str, object]) -> Iterator[tuple[str, str, str, StepSignal]]:
    for module, heatmap in heatmaps.items():
        for direction in ("write", "read"):
            table = heatmap.to_df([direction])  # type: ignore[attr-defined]
            volume = np.asarray(table.sum(axis=0), dtype=float)
            edges = np.array([bin_.left for bin_ in table.columns] + [table.columns[-1].right], dtype=float)
            if volume.sum() > 0:
                yield log, f"HEATMAP {module}", direction, step_signal(edges[:-1], edges[1:], volume)
