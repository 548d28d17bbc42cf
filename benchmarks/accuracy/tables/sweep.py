"""The semi-synthetic sweep and exact pulse trains, as in the first study, and the time for one signal."""

import numpy as np

from .shares import Rows, names, of, percent, share, table

EXACT = 0.005


def sweep_table(rows: Rows) -> str:
    """Return error and verdicts at each point of the sweep, by method."""
    lines = []
    chosen = [row for row in rows if row["family"] == "sweep"]
    for name in names(chosen, "class"):
        for method in names(chosen, "method"):
            mine = of(chosen, class_=name, method=method)
            errors = np.array([row["error"] for row in mine if row["error"] is not None])
            cells = (
                [percent(float(errors.mean()), 2), percent(float(np.median(errors)), 2)] if errors.size else ["–"] * 2
            )
            given = percent(errors.size / max(len(mine), 1), 0)
            lines.append([name.removeprefix("sweep/"), method, *cells, given, percent(share(mine, "stated"), 0)])
    return table(
        ["point", "method", "mean error, %", "median error, %", "estimate given, %", "called periodic, %"], lines
    )


def pulse_table(rows: Rows) -> str:
    """Return the share of pulse trains found within 0.5 % and, in brackets, called periodic."""
    chosen = [row for row in rows if row["class"].startswith("pulses/")]
    lines = []
    for name in names(chosen, "class"):
        cells = []
        for method in names(chosen, "method"):
            mine = of(chosen, class_=name, method=method)
            exact = [row["stated"] and row["error"] <= EXACT for row in mine]
            cells.append(f"{percent(float(np.mean(exact)))} ({percent(share(mine, 'stated'))})" if mine else "–")
        lines.append([name.removeprefix("pulses/"), *cells])
    return table(["pulses", *names(chosen, "method")], lines)


def time_table(rows: Rows, measured: dict[str, float]) -> str:
    """Return time for one signal of the sweep in ms, and of ours on large ones in s."""
    lines = []
    for method in names(rows, "method"):
        seconds = np.array([row["seconds"] for row in rows if row["method"] == method and row["family"] == "sweep"])
        if seconds.size:
            middle, high = np.median(seconds), np.quantile(seconds, 0.95)
            lines.append([f"a trace of the sweep, {method}", f"{1e3 * middle:.1f} ms", f"{1e3 * high:.1f} ms", "–"])
    for name, value in measured.items():
        lines.append([name, f"{value:.2f} s", "–", "≤ 2 s" if "steps" in name else "≤ 1 s"])
    return table(["signal", "median", "95 %", "target"], lines)
