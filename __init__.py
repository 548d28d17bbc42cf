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
    from .analysis.detect import detect_period, detect_period_samples
    from .export.annotation import write_annotated
    from .export.comparison import compare_layers
    from .export.hdf5 import write_hdf5
    from .export.parquet import write_parquet
    from .export.perfetto import write_perfetto
    from .export.report.write import write_report
    from .layers.opening import open_trace
    from .layers.signal import event_signal, level_signal, step_signal
    from .otf2io.errors import IostrataError, OutputError, SelectionError, TraceError, UnsupportedTraceError

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
        "IostrataError": ".otf2io.errors",
        "OutputError": ".otf2io.errors",
        "SelectionError": ".otf2io.errors",
        "TraceError": ".otf2io.errors",
        "UnsupportedTraceError": ".otf2io.errors",
        "compare_layers": ".export.comparison",
        "detect_period": ".analysis.detect",
        "detect_period_samples": ".analysis.detect",
        "event_signal": ".layers.signal",
        "level_signal": ".layers.signal",
        "open_trace": ".layers.opening",
        "step_signal": ".layers.signal",
        "write_hdf5": ".export.hdf5",
        "write_annotated": ".export.annotation",
        "write_parquet": ".export.parquet",
        "write_perfetto": ".export.perfetto",
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
