"""Many runs: a collection of them in tables, what they have in common, which to look at first, and what differs.

The names below are handed on from the modules here on first use.

>>> from iostrata import runs
>>> before, after = runs.read_chosen("old"), runs.read_chosen("new")   # doctest: +SKIP
>>> runs.diff_runs(before, after).verdict                              # doctest: +SKIP
'better'
"""

# ruff: isort: skip_file
# As many names as come from a module stand in one statement.
from ..model.faces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .collection.chosen import read_chosen as read_chosen
    from .collection.collect import read_runs as read_runs
    from .collection.read import Settings as Settings, read_run as read_run
    from .collection.rows import (
        FindingRow as FindingRow,
        IterationRow as IterationRow,
        JobRow as JobRow,
        LayerRow as LayerRow,
        LoopRow as LoopRow,
        Run as Run,
        SegmentRow as SegmentRow,
        SignalRow as SignalRow,
    )
    from .collection.tables import Collection as Collection
    from .differences.changes import Change as Change
    from .differences.difference import Difference as Difference, diff_runs as diff_runs
    from .differences.rules import FailRule as FailRule
    from .scheduling.comparison import PolicyComparison as PolicyComparison, compare_policies as compare_policies
    from .scheduling.jobs import PeriodicJob as PeriodicJob
    from .scheduling.recordings import read_periods as read_periods, recorded_job as recorded_job
    from .scheduling.tables import read_job_table as read_job_table
    from .scores.assessment import JobScore as JobScore, assess as assess, ranked as ranked
    from .scores.limits import MetricLimits as MetricLimits, read_limits as read_limits, train as train
    from .scores.tables import MetricTable as MetricTable
    from .scores.traces import TraceJobs as TraceJobs
    from .signatures.loops import loops_signature as loops_signature
    from .signatures.sample import Sample as Sample
    from .signatures.server_logs import job_samples as job_samples, read_jobs as read_jobs, read_log as read_log
    from .signatures.signature import Signature as Signature, extract_signature as extract_signature
    from .signatures.traces import (
        collection_signals as collection_signals,
        run_signals as run_signals,
        trace_samples as trace_samples,
    )
else:
    # Hidden from type checkers: with a module ``__getattr__`` in sight they would accept any name.
    __getattr__, __dir__ = lazy_names(__name__)
