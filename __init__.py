"""iostrata: what each I/O layer did in an OTF2 trace, its bandwidth over time, and its period.

The names below are handed on from the sub-packages on first use (PEP 562), so that ``import iostrata`` stays cheap.

>>> import iostrata
>>> trace = iostrata.open_trace("traces.otf2")                      # doctest: +SKIP
>>> signal = trace.layers["MPI-IO"].bandwidth("write")              # doctest: +SKIP
>>> iostrata.detect_period(signal).period                           # doctest: +SKIP
0.41
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .analysis.comparison.layers import compare_layers
    from .analysis.detect import detect_period, detect_period_samples
    from .export.hdf5.writer import write_hdf5
    from .export.parquet import write_parquet
    from .export.report.write import write_report
    from .export.timeline.otf2_markers import write_annotated
    from .export.timeline.perfetto import write_perfetto
    from .layers.opening import open_trace
    from .model.errors import IostrataError, OutputError, SelectionError, TraceError, UnsupportedTraceError
    from .signals.construction import event_signal, level_signal, step_signal

    __version__: str

__all__ = [
    "IostrataError",
    "OutputError",
    "SelectionError",
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
    "write_hdf5",
    "write_parquet",
    "write_perfetto",
    "write_report",
]

if not TYPE_CHECKING:
    # Hidden from type checkers: with a module ``__getattr__`` in sight they would accept any name.

    _HOMES = {
        "IostrataError": ".model.errors",
        "OutputError": ".model.errors",
        "SelectionError": ".model.errors",
        "TraceError": ".model.errors",
        "UnsupportedTraceError": ".model.errors",
        "compare_layers": ".analysis.comparison.layers",
        "detect_period": ".analysis.detect",
        "detect_period_samples": ".analysis.detect",
        "event_signal": ".signals.construction",
        "level_signal": ".signals.construction",
        "open_trace": ".layers.opening",
        "step_signal": ".signals.construction",
        "write_hdf5": ".export.hdf5.writer",
        "write_annotated": ".export.timeline.otf2_markers",
        "write_parquet": ".export.parquet",
        "write_perfetto": ".export.timeline.perfetto",
        "write_report": ".export.report.write",
    }

    def __getattr__(name):
        if name == "__version__":
            value = import_module("importlib.metadata").version("iostrata")
        elif name in _HOMES:
            value = getattr(import_module(_HOMES[name], __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
