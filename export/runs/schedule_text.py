"""The terminal view of ``iostrata schedule``."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table

from ...model.quantities import count_text, counted, percent_text, seconds_text
from ...model.text import printable, shortened
from ...runs.scheduling.comparison import PolicyComparison, PolicyOutcome
from ...runs.scheduling.jobs import PeriodicJob
from ...runs.scheduling.policies import Set
from ..terminal.console import print_paragraph, print_rest, table_of_numbers

TITLES: Final = {"fair": "fair share", "exclusive": "exclusive", "set-10": "Set-10", "clairvoyant": "clairvoyant"}
_JOBS_SHOWN: Final = 20
_NAMES_SHOWN: Final = 3


def print_schedule(
    found: PolicyComparison, jobs: Sequence[PeriodicJob], sets: Sequence[Set], error: float, console: Console
) -> None:
    """Print what each policy makes of the jobs, the sets of Set-10, and how the first jobs fare.

    Parameters
    ----------
    error : float
        By which share the periods that Set-10 gets are wrong.
    """
    workload = found.workload
    load = float(workload.load.sum())
    asking = "which asks" if len(jobs) == 1 else "which together ask"
    facts = f"{counted(len(jobs), 'job')}, {asking} for {percent_text(load)} of the bandwidth"
    print_paragraph(f"{facts}. {_verdict(found)}", console, "bold", indent=0)
    console.print(_policies(found, error))
    if load > 1.005:
        text = "Together they ask for more bandwidth than there is: no policy can keep them from waiting."
        print_paragraph(text, console, "yellow", indent=0)
    console.print()
    console.print(_sets(sets, dict(zip(workload.names, workload.load.tolist(), strict=True))))
    console.print()
    console.print(_jobs(found, jobs, {name: one for one in sets for name in one.jobs}, console.width))
    print_rest(len(jobs) - _JOBS_SHOWN, "job", console)
    print_paragraph(_explanation(found, error), console, "dim", indent=0)


def _verdict(found: PolicyComparison) -> str:
    known = {one.policy: one for one in found.outcomes}
    fair, ours = known.get("fair"), known.get("set-10")
    if fair is None or ours is None:
        return ""
    return (
        f"Set-10 beside fair share: stretch {_change(fair.stretch, ours.stretch)}, "
        f"I/O slowdown {_change(fair.io_slowdown, ours.io_slowdown)}, "
        f"utilization {_change(fair.utilization, ours.utilization)}."
    )


def _change(before: float, after: float) -> str:
    change = after / before - 1
    if round(100 * change, 1) == 0:
        return "±0 %"
    digits = 1 if abs(change) < 0.1 else 0
    return f"{'+' if change > 0 else '−'}{abs(100 * change):.{digits}f} %"


def _policies(found: PolicyComparison, error: float) -> Table:
    table = table_of_numbers(("policy", "stretch", "worst job", "I/O slowdown", "utilization"), names=(0,))
    for one in found.outcomes:
        wrong = f", periods ±{percent_text(error)}" if one.policy == "set-10" and error > 0 else ""
        table.add_row(TITLES[one.policy] + wrong, *_cells(one, found.runs))
    table.add_row("each alone", "1", "1", "1", _percent(found.workload.utilization_alone), style="dim")
    return table


def _cells(one: PolicyOutcome, runs: int) -> tuple[str, str, str, str]:
    stretch, slowdown, use = f"{one.stretch:.3g}", f"{one.io_slowdown:.3g}", _percent(one.utilization)
    if runs > 1:
        stretch += f" ({one.stretch_range[0]:.3g}…{one.stretch_range[1]:.3g})"
        slowdown += f" ({one.io_slowdown_range[0]:.3g}…{one.io_slowdown_range[1]:.3g})"
        low, high = (100 * share for share in one.utilization_range)
        use += f" ({low:.1f}…{high:.1f})"
    return stretch, f"{one.max_stretch:.3g}", slowdown, use


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _sets(sets: Sequence[Set], load: dict[str, float]) -> Table:
    table = table_of_numbers(("set", "periods", "priority", "jobs", "bandwidth", ""), names=(5,))
    for one in sets:
        names = ", ".join(shortened(printable(name), 24) for name in one.jobs[:_NAMES_SHOWN])
        number = "–" if one.set is None else str(one.set)
        periods = "none" if one.period_s is None else " … ".join(map(seconds_text, one.period_s))
        jobs, share = count_text(len(one.jobs)), percent_text(sum(load[name] for name in one.jobs))
        rest = ", …" if len(one.jobs) > _NAMES_SHOWN else ""
        table.add_row(number, periods, f"{one.priority:g}", jobs, share, names + rest)
    return table


def _jobs(found: PolicyComparison, jobs: Sequence[PeriodicJob], sets: dict[str, Set], width: int) -> Table:
    recorded = any(job.signal for job in jobs)
    policies = [{"set-10": "Set-10"}.get(policy, policy) for policy in found.metrics]
    titles = ("job", "period", "set", "I/O", *policies, *(["phases of"] if recorded else []))
    table = table_of_numbers(titles, names=(0, 4 + len(policies)))
    for row, job in enumerate(jobs[:_JOBS_SHOWN]):
        number = sets[job.name].set
        cells = [
            shortened(printable(job.name), max(12, width - 66)),
            "none" if job.period is None else seconds_text(job.period),
            "–" if number is None else str(number),
            percent_text(float(found.workload.load[row])),
            *(f"{metrics.stretch[row]:.3g}" for metrics in found.metrics.values()),
        ]
        table.add_row(*cells, *([printable(job.signal)] if recorded else []))
    return table


def _explanation(found: PolicyComparison, error: float) -> str:
    text = (
        "stretch: time that jobs took over that which they take alone; I/O slowdown: the same of their I/O, waiting "
        "included (both geometric means over the jobs); utilization: share of the nodes' time in which jobs computed. "
        "A job alone has the whole bandwidth. The table of jobs has the stretch of each by policy and, under I/O, its "
        "share of the bandwidth."
    )
    if error > 0:
        text += f" Set-10 gets periods {percent_text(error)} too long or too short, anew at each phase."
    if found.runs > 1:
        return f"{text} Means of {found.runs} runs, with the least and the most; jobs of the first run."
    return text
