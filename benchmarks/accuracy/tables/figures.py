"""Figures of the study: error over the sweep, reliability, and verdicts by class."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import scores

from inputs import semisynthetic

from .shares import Rows, names, of, share

mpl.use("Agg")
COLOURS = ("#1b7837", "#b2182b", "#7fbf7b")


def draw_figures(rows: Rows, folder: Path) -> list[str]:
    """Draw what the rows allow into a folder and return the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    methods = [name for name in names(rows, "method") if name != "ftio method"]
    colours = dict(zip(methods, COLOURS, strict=False))
    drawn = []
    if any(row["family"] == "sweep" for row in rows):
        _errors(rows, methods, colours, folder / "accuracy-error.png")
        drawn.append("accuracy-error.png")
    _reliability(rows, methods[:2], colours, folder / "accuracy-reliability.png")
    _verdicts(rows, methods[:2], colours, folder / "accuracy-verdicts.png")
    return [*drawn, "accuracy-reliability.png", "accuracy-verdicts.png"]


def _save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.savefig(path, dpi=110)
    plt.close(figure)


def _errors(rows: Rows, methods: list[str], colours: dict[str, str], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True, constrained_layout=True)
    for axis, sweep, label in zip(axes, ("t_cpu", "φ", "σ/µ"), ("t_cpu in s", "φ in s", "σ / µ"), strict=True):
        points = [point for point in semisynthetic.points() if point.sweep == sweep and point.noise == "none"]
        values = [{"t_cpu": p.compute, "φ": p.delay, "σ/µ": p.variation}[sweep] for p in points]
        for shift, method in enumerate(methods):
            errors = [
                [
                    100 * row["error"]
                    for row in of(rows, class_=f"sweep/{p.name}", method=method)
                    if row["error"] is not None
                ]
                for p in points
            ]
            drawn = [np.maximum(one, 1e-3) if one else [np.nan] for one in errors]
            place = np.arange(len(values)) + 0.25 * (shift - (len(methods) - 1) / 2)
            boxes = axis.boxplot(drawn, positions=place, widths=0.2, patch_artist=True, flierprops={"markersize": 2})
            for box in boxes["boxes"]:
                box.set_facecolor(colours[method])
        axis.set_yscale("log")
        axis.set_xticks(range(len(values)), [f"{value:g}" for value in values])
        axis.set_xlabel(label)
    axes[0].set_ylabel("error in % (below 0.001 drawn there)")
    handles = [plt.Rectangle((0, 0), 1, 1, color=colours[method]) for method in methods]
    axes[0].legend(handles, methods, fontsize=8)
    _save(figure, path)


def _reliability(rows: Rows, methods: list[str], colours: dict[str, str], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), constrained_layout=True)
    some = [row for row in rows if row["family"] != "null"]
    for axis, chosen, title in zip(axes, (rows, some), ("all classes", "classes with a period"), strict=True):
        axis.plot([0, 1], [0, 1], color="0.7", lw=1)
        for method in methods:
            stated = [row for row in of(chosen, method=method) if row.get("stated") and row.get("right") is not None]
            if len(stated) < scores.BINS:
                continue
            said, right = (np.array([float(row[key]) for row in stated]) for key in ("confidence", "right"))
            mean, part, _ = scores.reliability(said, right)
            axis.plot(mean, part, "o-", color=colours[method], label=method, ms=4)
        axis.set(xlabel="confidence", ylabel="share within 10 %", title=title, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes[0].legend(fontsize=8)
    _save(figure, path)


def _verdicts(rows: Rows, methods: list[str], colours: dict[str, str], path: Path) -> None:
    import matplotlib.pyplot as plt

    panels = [("null", "stated", "called periodic, in %"), ("period", "found", "found within 5 %, in %")]
    panels.append(("regimes", "found", "all regimes right, in %"))
    figure, axes = plt.subplots(1, 3, figsize=(15, 9), constrained_layout=True)
    for axis, (family, score, label) in zip(axes, panels, strict=True):
        mine = [row for row in rows if row["family"] == family]
        classes = names(mine, "class")
        for shift, method in enumerate(methods):
            shares = [100 * share(of(mine, class_=name, method=method), score) for name in classes]
            axis.barh(np.arange(len(classes)) + 0.3 * (shift - 0.5), shares, 0.3, color=colours[method], label=method)
        axis.set_yticks(range(len(classes)), [name.split("/", 1)[1] for name in classes], fontsize=6)
        axis.set_xlabel(label)
        axis.invert_yaxis()
    axes[0].legend(fontsize=8)
    _save(figure, path)
