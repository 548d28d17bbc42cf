"""Tables and figures of the accuracy study, from its results."""

from pathlib import Path
from typing import Any

import numpy as np
import other_inputs
import scores
import semisynthetic

Rows = list[dict[str, Any]]
CLOSE = 0.1
EXACT = 0.005


def _error(row: dict[str, Any]) -> float:
    return float("nan") if row["estimate"] is None else abs(row["estimate"] / row["truth"] - 1)


def _percent(value: float, digits: int = 2) -> str:
    return "–" if np.isnan(value) else f"{100 * value:.{digits}f}"


def _table(head: list[str], lines: list[list[str]]) -> str:
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *lines))


def _methods(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row["method"] for row in rows))


def _sweep(rows: Rows) -> str:
    lines = []
    for number, point in enumerate(semisynthetic.points()):
        for method in _methods(rows):
            mine = [row for row in rows if row.get("point") == number and row["method"] == method]
            errors = np.array([_error(row) for row in mine])
            given = errors[~np.isnan(errors)]
            cells = [_percent(given.mean()), _percent(float(np.median(given)))] if given.size else ["–", "–"]
            lines.append(
                [
                    point.name,
                    method,
                    *cells,
                    _percent(given.size / len(mine), 0),
                    _percent(float(np.mean([row["periodic"] for row in mine])), 0),
                ]
            )
    head = ["point", "method", "mean error, %", "median error, %", "estimate given, %", "called periodic, %"]
    return _table(head, lines)


def _share_table(rows: Rows, kind: str) -> str:
    chosen = [row for row in rows if row["kind"] == kind]
    groups = list(dict.fromkeys(row["group"] for row in chosen))
    lines = []
    for group in groups:
        shares = []
        for method in _methods(rows):
            mine = [row for row in chosen if row["group"] == group and row["method"] == method]
            shares.append(_percent(float(np.mean([row["periodic"] for row in mine])), 2))
        lines.append([group, *shares])
    return _table(["called periodic, %", *_methods(rows)], lines)


def _found(row: dict[str, Any]) -> bool:
    return bool(row["periodic"]) and _error(row) <= EXACT


def _pulses(rows: Rows) -> str:
    chosen = [row for row in rows if row["kind"] == "pulses"]
    lines = []
    for duty in other_inputs.DUTIES:
        shares = []
        for method in _methods(rows):
            mine = [row for row in chosen if row["duty"] == duty and row["method"] == method]
            close = np.mean([_found(row) for row in mine])
            periodic = np.mean([row["periodic"] for row in mine])
            shares.append(f"{_percent(float(close), 1)} ({_percent(float(periodic), 1)})")
        lines.append([f"{100 * duty:g} %", *shares])
    return _table(["duty cycle", *_methods(rows)], lines)


def _both(row: dict[str, Any]) -> bool:
    said = row["regimes"] if row["group"] == "two regimes" else row["periods"]
    return all(any(abs(period / true - 1) <= 0.02 for period in said) for true in row["true_periods"])


def _several(rows: Rows) -> str:
    chosen = [row for row in rows if row["kind"] == "several"]
    lines = []
    for group in ("two regimes", "two clocks"):
        shares = []
        for method in _methods(rows):
            mine = [row for row in chosen if row["group"] == group and row["method"] == method]
            shares.append(_percent(float(np.mean([_both(row) for row in mine])), 1))
        lines.append([group, *shares])
    return _table(["both periods reported, %", *_methods(rows)], lines)


def _judged(rows: Rows, method: str, recurrences: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return confidence and whether right, of the results given; on a signal without a period every one is wrong."""
    said, right = [], []
    for row in rows:
        if row["method"] != method or row["estimate"] is None:
            continue
        null = row["kind"] != "sweep"
        if null and not row["periodic"] and not recurrences:
            continue
        said.append(row["confidence"])
        right.append(0.0 if null else float(_error(row) <= CLOSE))
    return np.array(said), np.array(right)


def _mixed(rows: Rows) -> Rows:
    """Return the sweep and as many null signals, drawn with a fixed seed, with all methods of each."""
    sweep = [row for row in rows if row["kind"] == "sweep"]
    methods = len(_methods(rows))
    nulls = [row for row in rows if row["kind"] == "null"]
    signals = [nulls[start : start + methods] for start in range(0, len(nulls), methods)]
    drawn = np.random.default_rng(0).choice(len(signals), len(sweep) // methods, replace=len(signals) < len(sweep))
    return sweep + [row for number in drawn for row in signals[number]]


def _calibration(rows: Rows) -> str:
    sweep = [row for row in rows if row["kind"] == "sweep"]
    sets = {
        "sweep": (sweep, True),
        "its hard part": ([row for row in sweep if row["hard"]], True),
        "sweep and nulls 1 : 1, periods": (_mixed(rows), False),
        "sweep and nulls 1 : 1, periods and recurrences": (_mixed(rows), True),
    }
    lines = []
    for name, (chosen, recurrences) in sets.items():
        for method in _methods(rows):
            said, right = _judged(chosen, method, recurrences)
            area, skill = scores.area_under_curve(said, right), scores.brier_skill(said, right)
            lines.append(
                [
                    name,
                    method,
                    f"{scores.calibration_error(said, right):.3f}",
                    "–" if area is None else f"{area:.3f}",
                    "–" if skill is None else f"{skill:.2f}",
                    f"{right.mean():.4f}",
                    str(right.size),
                ]
            )
    head = ["results", "method", "calibration error", "AUROC", "Brier skill", "share right", "results given"]
    return _table(head, lines)


def _times(rows: Rows) -> str:
    lines = []
    for method in _methods(rows):
        seconds = np.array([row["seconds"] for row in rows if row["method"] == method and row["kind"] == "sweep"])
        lines.append([method, f"{1e3 * np.median(seconds):.1f}", f"{1e3 * np.quantile(seconds, 0.95):.1f}"])
    return _table(["method", "median, ms", "95 %, ms"], lines)


def _figures(rows: Rows, folder: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    methods = [name for name in _methods(rows) if name != "ftio method"]
    colours = dict(zip(methods, ("#1b7837", "#7fbf7b", "#b2182b"), strict=False))

    figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True, constrained_layout=True)
    for axis, sweep, label in zip(axes, ("t_cpu", "φ", "σ/µ"), ("t_cpu in s", "φ in s", "σ / µ"), strict=True):
        numbers = [
            (number, point)
            for number, point in enumerate(semisynthetic.points())
            if point.sweep == sweep and point.noise == "none"
        ]
        values = [{"t_cpu": p.compute, "φ": p.delay, "σ/µ": p.variation}[sweep] for _, p in numbers]
        for shift, method in enumerate(methods):
            errors = []
            for number, _ in numbers:
                mine = [_error(row) for row in rows if row.get("point") == number and row["method"] == method]
                errors.append([max(100 * error, 1e-3) for error in mine if not np.isnan(error)])
            place = np.arange(len(values)) + 0.25 * (shift - (len(methods) - 1) / 2)
            boxes = axis.boxplot(errors, positions=place, widths=0.2, patch_artist=True, flierprops={"markersize": 2})
            for box in boxes["boxes"]:
                box.set_facecolor(colours[method])
        axis.set_yscale("log")
        axis.set_xticks(range(len(values)), [f"{value:g}" for value in values])
        axis.set_xlabel(label)
    axes[0].set_ylabel("error in % (below 0.001 drawn there)")
    handles = [plt.Rectangle((0, 0), 1, 1, color=colours[method]) for method in methods]
    axes[0].legend(handles, methods, fontsize=8)
    figure.savefig(folder / "accuracy-error.png", dpi=110)
    plt.close(figure)

    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), constrained_layout=True)
    sweep_rows = [row for row in rows if row["kind"] == "sweep"]
    for axis, chosen, title in zip(axes, (sweep_rows, _mixed(rows)), ("sweep", "sweep and nulls 1 : 1"), strict=True):
        axis.plot([0, 1], [0, 1], color="0.7", lw=1)
        for method in methods:
            said, right = _judged(chosen, method)
            mean, share, _ = scores.reliability(said, right)
            axis.plot(mean, share, "o-", color=colours[method], label=method, ms=4)
        axis.set(xlabel="confidence", ylabel="share within 10 %", title=title, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes[0].legend(fontsize=8)
    figure.savefig(folder / "accuracy-reliability.png", dpi=110)
    plt.close(figure)

    figure, (left, right_axis) = plt.subplots(1, 2, figsize=(12, 4.2), constrained_layout=True)
    for method in methods:
        shares = []
        for duty in other_inputs.DUTIES:
            mine = [r for r in rows if r["kind"] == "pulses" and r["duty"] == duty and r["method"] == method]
            shares.append(100 * np.mean([_found(row) for row in mine]))
        left.plot([100 * duty for duty in other_inputs.DUTIES], shares, "o-", color=colours[method], label=method)
    left.set(xscale="log", xlabel="duty cycle in %", ylabel="found within 0.5 %, in %", ylim=(-3, 103))
    left.legend(fontsize=8)
    groups = list(dict.fromkeys(row["group"] for row in rows if row["kind"] in ("null", "few")))
    for shift, method in enumerate(methods):
        shares = [
            100 * np.mean([r["periodic"] for r in rows if r["group"] == group and r["method"] == method])
            for group in groups
        ]
        right_axis.barh(np.arange(len(groups)) + 0.27 * (shift - 1), shares, 0.25, color=colours[method])
    right_axis.set_yticks(range(len(groups)), groups, fontsize=8)
    right_axis.set_xlabel("called periodic, in %")
    right_axis.invert_yaxis()
    figure.savefig(folder / "accuracy-verdicts.png", dpi=110)
    plt.close(figure)


TEXT = """# Accuracy of the period detection

Written by `benchmarks/accuracy/study.py` ({traces} traces a point, {nulls} seeds a null signal); do not edit.

Inputs at 1 Hz. `auto` gets the exact step signal; "1 Hz samples" is the same method on bin averages alone. "ftio
method" is `method="ftio"`, and FTIO 0.0.9 is the program itself (`ftio-hpc`, in an environment of its own, z-score,
1 Hz), on the same step signals with the window from t = 0. The window has a random tail of 0 to 1.5 mean periods. An
estimate is the period, or without one the recurrence; its error is relative to the true mean time between the starts of
phases. The seeds differ from those that anything was tuned on.

![Error by point](figures/accuracy-error.png)

## The semi-synthetic sweep

{sweep}

## Signals without a period

Random ones, then those that must never be periodic:

{null}

{few}

## Exact pulse trains

Share called periodic with an error of at most 0.5 %, in brackets share called periodic; 5 to 200 cycles, periods of
20 to 100 s that no grid holds. In 1 Hz samples of five pulses 20 s apart the period is not determined to 0.5 %: each
pulse may lie anywhere in its bin.

{pulses}

![Pulse trains and verdicts](figures/accuracy-verdicts.png)

## Several periods

20 s and then 50 s (`regimes`); two trains at the same time whose ratio is no integer (`periods`); within 2 %.

{several}

## Calibration

Among results given at confidence c, a share c should lie within 10 % of the truth. Ten bins of equal mass. Whatever is
said about a null signal counts as wrong: only periods, or recurrences too.

{calibration}

![Reliability](figures/accuracy-reliability.png)

## Time for one signal

Sweep, without making the signal; FTIO without its start (about 2 s).

{times}
"""


def write_report(rows: Rows, target: Path, traces: int, nulls: int) -> None:
    """Write ``accuracy.md`` and its figures into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    _figures(rows, target / "figures")
    text = TEXT.format(
        traces=traces,
        nulls=nulls,
        sweep=_sweep(rows),
        null=_share_table(rows, "null"),
        few=_share_table(rows, "few"),
        pulses=_pulses(rows),
        several=_several(rows),
        calibration=_calibration(rows),
        times=_times(rows),
    )
    (target / "accuracy.md").write_text(text)
