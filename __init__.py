"""iostrata: what each I/O layer did in an OTF2 trace, its bandwidth over time, and its period.

The names below are handed on from the sub-packages on first use, so that ``import iostrata`` stays cheap.

>>> import iostrata
>>> trace = iostrata.open_trace("traces.otf2")                      # doctest: +SKIP
>>> signal = trace.layers["MPI-IO"].bandwidth("write")              # doctest: +SKIP
>>> iostrata.detect_period(signal).period                           # doctest: +SKIP
0.41
"""

# ruff: isort: skip_file
# As many names as come from a module stand in one statement. Absolute, as pytest also runs this file by itself:
from iostrata.model.faces import lazy_names

TYPE_CHECKING = False  # not imported, as little is to happen before a command can be interrupted
if TYPE_CHECKING:
    from .analysis.comparison.layers import Comparison as Comparison, compare_layers as compare_layers
    from .analysis.detect import detect_period as detect_period, detect_period_samples as detect_period_samples
    from .analysis.findings.find import Finding as Finding
    from .analysis.loops.find import find_loops as find_loops
    from .analysis.loops.loops import Loop as Loop, Loops as Loops
    from .analysis.results.parts import Period as Period, Phase as Phase, Regime as Regime
    from .analysis.results.result import PeriodResult as PeriodResult
    from .export.collection import write_collection as write_collection
    from .export.ftio import write_ftio as write_ftio
    from .export.hdf5.writer import write_hdf5 as write_hdf5
    from .export.parquet import write_parquet as write_parquet
    from .export.report.write import write_report as write_report
    from .export.timeline.otf2_markers import write_otf2 as write_otf2
    from .export.timeline.otf2_markers import write_annotated as write_annotated
    from .export.timeline.perfetto import write_perfetto as write_perfetto
    from .layers.flow.flow import Flow as Flow
    from .layers.handles.forest import HandleForest as HandleForest
    from .layers.layer import Layer as Layer
    from .layers.opening import open_trace as open_trace
    from .layers.summary.statistics import LayerStatistics as LayerStatistics
    from .layers.trace import Trace as Trace
    from .model.errors import (
        ClusterError as ClusterError,
        IostrataError as IostrataError,
        MissingLibraryError as MissingLibraryError,
        OutputError as OutputError,
        SelectionError as SelectionError,
        TraceError as TraceError,
        UnsupportedTraceError as UnsupportedTraceError,
    )
    from .model.stream.damage import DamageReport as DamageReport
    from .model.version import __version__ as __version__
    from .signals.construction import (
        event_signal as event_signal,
        level_signal as level_signal,
        step_signal as step_signal,
    )
    from .signals.samples import Samples as Samples
    from .signals.step import StepSignal as StepSignal
else:
    # Hidden from type checkers: with a module ``__getattr__`` in sight they would accept any name.
    __getattr__, __dir__ = lazy_names(__name__)
