"""A schedule as a picture, and its sets with their priorities as a file for a scheduler."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...model.document import SCHEMA_VERSION
from ...model.errors import SelectionError
from ...model.text import printable, shortened
from ...runs.scheduling.comparison import PolicyComparison, Window
from ...runs.scheduling.policies import Set
from ...runs.scheduling.simulation import Simulated
from ..figure import write_figure
from ..json.documents import write_json
from ..written import Written
from .schedule_text import TITLES

JOBS_DRAWN: Final = 48
MOST_BARS: Final = 20_000
_WAITING, _GROUND = "#e0913a", "#eef1f5"


def write_sets(sets: Sequence[Set], path: str | os.PathLike[str]) -> Written:
    """Write sets and their priorities as JSON, whole or not at all; raises OutputError."""
    listed = [one.to_dict() for one in sets]
    return write_json({"schema_version": SCHEMA_VERSION, "policy": "set-10", "sets": listed}, path)


def write_schedule_figure(
    found: PolicyComparison, path: str | os.PathLike[str], window: Window | None = None
) -> Written:
    """Draw when each job waits for the bandwidth and when it has it, a panel a policy, into a .png, .svg or .pdf.

    Raises MissingLibraryError if matplotlib is not installed, SelectionError if there are too many phases, OutputError
    if the file cannot be written.

    Parameters
    ----------
    window : (float or None, float or None), optional
        What is drawn, in s; default: all.
    """
    jobs = len(found.workload.names)
    if jobs > JOBS_DRAWN:
        raise SelectionError(f"{jobs:,} jobs are too many for a picture, which shows {JOBS_DRAWN}: give fewer")
    low, high = window or (None, None)
    begin = 0.0 if low is None else low
    end = max(float(one.end.max()) for one in found.schedules.values()) if high is None else high
    return Written(Path(path), write_figure(lambda: _figure(found, begin, end), path), signals=jobs)


def _figure(found: PolicyComparison, begin: float, end: float) -> Any:
    from matplotlib.figure import Figure

    height = 1.0 + 0.17 * len(found.workload.names)
    picture: Any = Figure(figsize=(11, 0.9 + height * len(found.schedules)), layout="constrained")
    panels = picture.subplots(len(found.schedules), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (policy, schedule) in zip(panels, found.schedules.items(), strict=True):
        image = _draw(axes, schedule, begin, end)
        one = found.metrics[policy]
        what = f"stretch {one.mean_stretch:.3g}, I/O slowdown {one.mean_io_slowdown:.3g}"
        title = f"{TITLES[policy]}: {what}, utilization {100 * one.utilization:.1f} %"
        axes.set_title(title, loc="left", fontsize=10)
    panels[-1].set_xlabel("time (s)")
    bar = picture.colorbar(image, ax=panels, location="right", shrink=0.5, aspect=30, pad=0.01)
    bar.set_label("share of the bandwidth while it does I/O")
    _legend(picture)
    return picture


def _draw(axes: Any, schedule: Simulated, begin: float, end: float) -> Any:
    """Draw a schedule; return what its colours are of."""
    from matplotlib.collections import PolyCollection

    workload = schedule.workload
    shown = np.flatnonzero((schedule.end > begin) & (schedule.request < end))
    if len(shown) > MOST_BARS:
        raise SelectionError(
            f"{len(shown):,} phases of I/O are too many for a picture, which shows {MOST_BARS:,}: choose a --window"
        )
    row = workload.job_of_phase[shown].astype(np.float64)
    axes.set_facecolor("white")
    last = schedule.end[workload.first[1:] - 1] + workload.rest
    for job, (start, stop) in enumerate(zip(workload.release.tolist(), last.tolist(), strict=True)):
        axes.barh(job, stop - start, left=start, height=0.8, color=_GROUND, linewidth=0)
    waits = schedule.start[shown] > schedule.request[shown]
    axes.add_collection(
        PolyCollection(_boxes(row[waits], schedule.request[shown][waits], schedule.start[shown][waits], 0.16),
                       facecolors=_WAITING, edgecolors=_WAITING, linewidths=0.4)
    )  # fmt: skip
    taken = np.maximum(schedule.end[shown] - schedule.start[shown], 1e-300)
    share = np.minimum(workload.work[shown] / taken, 1.0)
    # A line around each, so that a phase shorter than a point of the picture is seen.
    bars = PolyCollection(
        _boxes(row, schedule.start[shown], schedule.end[shown], 0.38), array=share, cmap="viridis_r",
        edgecolors="face", linewidths=0.6,
    )  # fmt: skip
    bars.set_clim(0, 1)
    axes.add_collection(bars)
    axes.set_xlim(begin, end)
    axes.set_ylim(len(workload.names) - 0.5, -0.5)
    names = [shortened(printable(name), 18) for name in workload.names]
    axes.set_yticks(range(len(names)), names, fontsize=7)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return bars


def _boxes(row: Any, left: Any, right: Any, half: float) -> Any:
    """Return rectangles, float64 (n, 4, 2)."""
    x = np.stack([left, right, right, left], axis=1)
    y = row[:, None] + half * np.array([-1.0, -1.0, 1.0, 1.0])
    return np.stack([x, y], axis=2)


def _legend(picture: Any) -> None:
    from matplotlib.patches import Patch

    picture.legend(
        handles=[Patch(color=_WAITING, label="waits for the bandwidth"), Patch(color=_GROUND, label="computes")],
        loc="outside upper right", ncols=2, fontsize="small", frameon=False,
    )  # fmt: skip
