"""iostrata: what each I/O layer did in an OTF2 trace, its bandwidth over time, and its period.

The names below are handed on from the sub-packages on first use, so that ``import iostrata`` stays cheap.

>>> import iostrata
>>> trace = iostrata.open_trace("traces.otf2")                      # doctest: +SKIP
>>> signal = trace.layers["MPI-IO"].bandwidth("write")              # doctest: +SKIP
>>> iostrata.detect_period(signal).period                           # doctest: +SKIP
0.41
"""

from importlib import import_module

TYPE_CHECKING = False  # not imported, as little is to happen before a command can be interrupted
if TYPE_CHECKING:
    from .analysis.comparison.layers import Comparison, compare_layers
    from .analysis.detect import detect_period, detect_period_samples
    from .analysis.findings.find import Finding
    from .analysis.results.parts import Period, Phase, Regime
    from .analysis.results.result import PeriodResult
    from .export.ftio import write_ftio
    from .export.hdf5.writer import write_hdf5
    from .export.parquet import write_parquet
    from .export.report.write import write_report
    from .export.timeline.otf2_archive import write_otf2
    from .export.timeline.otf2_markers import write_annotated
    from .export.timeline.perfetto import write_perfetto
    from .layers.flow.flow import Flow
    from .layers.handles.forest import HandleForest
    from .layers.layer import Layer
    from .layers.opening import open_trace
    from .layers.summary.statistics import LayerStatistics
    from .layers.trace import BinnedTrace, Trace
    from .model.errors import (
        ClusterError,
        IostrataError,
        MissingLibraryError,
        OutputError,
        SelectionError,
        TraceError,
        UnsupportedTraceError,
    )
    from .model.stream.damage import DamageReport
    from .signals.construction import event_signal, level_signal, step_signal
    from .signals.samples import Samples
    from .signals.step import StepSignal

    __version__: str

__all__ = [
    "BinnedTrace",
    "ClusterError",
    "Comparison",
    "DamageReport",
    "Finding",
    "Flow",
    "HandleForest",
    "IostrataError",
    "Layer",
    "LayerStatistics",
    "MissingLibraryError",
    "OutputError",
    "Period",
    "PeriodResult",
    "Phase",
    "Regime",
    "Samples",
    "SelectionError",
    "StepSignal",
    "Trace",
    "TraceError",
    "UnsupportedTraceError",
    "__version__",
    "compare_layers",
    "detect_period",
    "detect_period_samples",
    "event_signal",
    "level_signal",
    "open_trace",
    "step_signal",
    "write_annotated",
    "write_ftio",
    "write_hdf5",
    "write_otf2",
    "write_parquet",
    "write_perfetto",
    "write_report",
]

if not TYPE_CHECKING:
    # Hidden from type checkers: with a module ``__getattr__`` in sight they would accept any name.
    _HOMES = {
        ".analysis.comparison.layers": ("Comparison", "compare_layers"),
        ".analysis.detect": ("detect_period", "detect_period_samples"),
        ".analysis.findings.find": ("Finding",),
        ".analysis.results.parts": ("Period", "Phase", "Regime"),
        ".analysis.results.result": ("PeriodResult",),
        ".export.hdf5.writer": ("write_hdf5",),
        ".export.ftio": ("write_ftio",),
        ".export.parquet": ("write_parquet",),
        ".export.report.write": ("write_report",),
        ".export.timeline.otf2_archive": ("write_otf2",),
        ".export.timeline.otf2_markers": ("write_annotated",),
        ".export.timeline.perfetto": ("write_perfetto",),
        ".layers.flow.flow": ("Flow",),
        ".layers.handles.forest": ("HandleForest",),
        ".layers.layer": ("Layer",),
        ".layers.opening": ("open_trace",),
        ".layers.summary.statistics": ("LayerStatistics",),
        ".layers.trace": ("BinnedTrace", "Trace"),
        ".model.stream.damage": ("DamageReport",),
        ".model.errors": (
            "ClusterError",
            "IostrataError",
            "MissingLibraryError",
            "OutputError",
            "SelectionError",
            "TraceError",
            "UnsupportedTraceError",
        ),
        ".signals.construction": ("event_signal", "level_signal", "step_signal"),
        ".signals.samples": ("Samples",),
        ".signals.step": ("StepSignal",),
    }
    _HOME = {name: module for module, names in _HOMES.items() for name in names}

    def __getattr__(name):
        if name == "__version__":
            value = import_module("importlib.metadata").version("iostrata")
        elif name in _HOME:
            value = getattr(import_module(_HOME[name], __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
