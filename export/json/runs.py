"""The documents of ``--json`` about many runs, as those of `iostrata.export.json.documents` about a trace."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final

from ...model.document import SCHEMA_VERSION, Document, keys_of, plain
from ...runs.scheduling.comparison import PolicyComparison, PolicyOutcome
from ...runs.scheduling.jobs import PeriodicJob
from ...runs.scheduling.policies import Set
from ...runs.scores.assessment import Alike, JobScore, Ranking, groups
from ...runs.signatures.known import Likeness
from ...runs.signatures.scaling import Scaling
from ...runs.signatures.signature import SampleUse, Signature
from ..written import Written

_OUTPUTS: Final = {"output?": list[Written]}
_SIGNATURE: Final = {"schema_version": int, "layer": str | None, "direction": str, "scaling?": Scaling, **_OUTPUTS}
_ASSESSED: Final = {
    "schema_version": int,
    "limits": dict[str, list[float]],
    **keys_of(float, "segment_s critical intensive_above short_s"),
    "quantiles": list[float],
    "order": str,
    "jobs": list[Annotated[Document, JobScore, {"rank": int}]],
    "groups": list[Alike],
    "left_out": int,
    "output?": Written,
}
_JOB: Final = {
    "job": str,
    **keys_of(float | None, "period_s io_share priority"),
    "set": int | None,
    "nodes": float,
    "signal": str | None,
    **keys_of(dict[str, float], "stretch io_slowdown"),
}
_SCHEDULE: Final = {
    **keys_of(int, "schema_version runs"),
    "jobs": list[Annotated[Document, _JOB]],
    "sets": list[Set],
    "policies": list[PolicyOutcome],
    **keys_of(float, "utilization_alone period_error"),
    **_OUTPUTS,
}


_LIKENESS: Final = {"schema_version": int, **keys_of(str, "known layer direction"), "runs": list[Likeness]}


def signature_document(
    signature: Signature,
    layer: str | None,
    direction: str,
    left_out: Iterable[SampleUse] = (),
    written: Iterable[Written] = (),
    scaling: Scaling | None = None,
) -> Annotated[Document, Signature, _SIGNATURE]:
    """Return the document of ``iostrata signature``; `left_out` are runs of which there is no sample."""
    entries = signature.to_dict()
    entries["samples"] += [sample.to_dict() for sample in left_out]
    outputs = [one.to_dict() for one in written]
    return {
        "schema_version": SCHEMA_VERSION,
        "layer": layer,
        "direction": direction,
        **entries,
        **({"scaling": scaling.to_dict()} if scaling else {}),
        **({"output": outputs} if outputs else {}),
    }


def likeness_document(
    runs: Iterable[Likeness], known: Path, layer: str, direction: str
) -> Annotated[Document, _LIKENESS]:
    """Return the document of ``iostrata signature --known``."""
    about = {"schema_version": SCHEMA_VERSION, "known": str(known), "layer": layer, "direction": direction}
    return {**about, "runs": [one.to_dict() for one in runs]}


def assess_document(found: Ranking, written: Written | None = None) -> Annotated[Document, _ASSESSED]:
    """Return the document of ``iostrata assess``: jobs as they are ranked, and the limits that they were scored by."""
    known = found.limits.to_dict()
    return {
        "schema_version": SCHEMA_VERSION,
        "limits": known["limits"],
        "segment_s": found.limits.segment_s,
        "quantiles": known["quantiles"],
        "critical": found.limits.critical,
        "intensive_above": found.threshold,
        "order": found.order,
        "short_s": found.short,
        "jobs": [{"job": one.job, "rank": rank, **one.to_dict()} for rank, one in enumerate(found.jobs, start=1)],
        "groups": plain(groups(found.jobs)),
        "left_out": found.left_out,
        **({} if written is None else {"output": written.to_dict()}),
    }


def schedule_document(
    found: PolicyComparison,
    jobs: Sequence[PeriodicJob],
    sets: Iterable[Set],
    error: float = 0.0,
    written: Iterable[Written] = (),
) -> Annotated[Document, _SCHEDULE]:
    """Return the document of ``iostrata schedule``: each job with its set, and what each policy makes of all."""
    sets = tuple(sets)
    set_of = {name: one for one in sets for name in one.jobs}
    load = found.workload.load.tolist()
    outputs = [one.to_dict() for one in written]
    return {
        "schema_version": SCHEMA_VERSION,
        "jobs": [
            {
                "job": job.name,
                "period_s": job.period,
                "set": set_of[job.name].set,
                "priority": set_of[job.name].priority,
                "nodes": job.nodes,
                "io_share": load[row],
                "signal": job.signal or None,
                "stretch": {policy: plain(metrics.stretch[row]) for policy, metrics in found.metrics.items()},
                "io_slowdown": {policy: plain(metrics.io_slowdown[row]) for policy, metrics in found.metrics.items()},
            }
            for row, job in enumerate(jobs)
        ],
        "sets": [one.to_dict() for one in sets],
        "policies": [one.to_dict() for one in found.outcomes],
        "utilization_alone": found.workload.utilization_alone,
        "period_error": error,
        "runs": found.runs,
        **({"output": outputs} if outputs else {}),
    }
