"""Runs in the order of time: which of them brought a change."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from ...model.errors import TraceError
from ..collection.rows import Run
from .difference import Difference, diff_runs
from .testing import ALPHA, ENOUGH

MOST_RUNS: Final = 200
"""Each is tried as the one that brought a change, against all others."""


def in_order(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that can be used by their start; by their key where one does not tell its start."""
    usable = sorted((run for run in runs if run.job.usable), key=lambda run: run.job.job)
    if all(run.job.start_utc is not None for run in usable):
        usable.sort(key=lambda run: run.job.start_utc or datetime.min.replace(tzinfo=UTC))
    return usable


def change_point(runs: Sequence[Run]) -> Difference | None:
    """Return the runs before the one that brought a change compared with it and those after; None where none did.

    It is the run for which the evidence of the first change is strongest; p-values are corrected for all that it might
    have been.

    Parameters
    ----------
    runs : sequence of Run
        At least three that can be used.

    Raises
    ------
    TraceError
        If there are fewer, or more than `MOST_RUNS`.
    """
    ordered = in_order(runs)
    if not ENOUGH <= len(ordered) <= MOST_RUNS:
        raise TraceError(f"a history takes {ENOUGH} to {MOST_RUNS} runs that can be used, and there are {len(ordered)}")
    found = []
    for place in range(1, len(ordered)):
        told = diff_runs(ordered[:place], ordered[place:])
        # What varies is known of three runs a side or more only; what is certain needs one.
        tried = len(ordered) - 1 if ENOUGH <= place <= len(ordered) - ENOUGH else math.inf
        sure = [one for one in told.mattering if one.p_value == 0 or (one.p_value or 0.0) * tried < ALPHA]
        if sure:
            found.append((min(one.p_value or 0.0 for one in sure), -max(one.size for one in sure), place, told))
    return min(found, key=lambda one: one[:3])[3] if found else None
