"""The study's numbers as pictures, after figures 16 to 19 of IOSI's paper."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from judging import Judged

COLOURS = {"iosi": "#084f8e", "plain": "#e0913a", "dtw": "#7a8494"}
TITLES = {"iosi": "IOSI", "plain": "without preprocessing", "dtw": "time warping"}
_MARKERS = {"IOR_A": "o", "IOR_B": "s", "IOR_C": "^"}
Times = Sequence[tuple[int, int, float, float | None]]
"""Samples, values of each, and s of CPU of IOSI and of time warping."""


def draw_figures(
    measures: Mapping[tuple[str, str], Sequence[Judged]],
    options: Mapping[tuple[str, float], Mapping[str, Sequence[Judged]]],
    times: Times,
    folder: Path,
) -> list[Path]:
    """Draw the three pictures into a folder and return their paths; none where matplotlib is not installed.

    Parameters
    ----------
    measures : mapping
        Results over seeds, by application and method.
    options : mapping
        Results over seeds by application, by name and value of an option.
    times : sequence
    folder : Path
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {
        "signature-measures.png": _measures(Figure(figsize=(11, 4), layout="constrained"), measures),
        "signature-options.png": _options(Figure(figsize=(11, 6.5), layout="constrained"), options),
        "signature-times.png": _times(Figure(figsize=(9, 3.6), layout="constrained"), times),
    }
    for name, picture in pictures.items():
        picture.savefig(folder / name, dpi=110, metadata={"Software": None})
    return [folder / name for name in pictures]


def _measures(figure: Any, measures: Mapping[tuple[str, str], Sequence[Judged]]) -> Any:
    """Draw both correlations and the volume as boxes over seeds (figure 16)."""
    from matplotlib.patches import Patch

    applications = list(dict.fromkeys(name for name, _ in measures))
    methods = list(dict.fromkeys(method for _, method in measures))
    panels = figure.subplots(1, 3)
    kinds = (("cross_correlation", "cross correlation"), ("coefficient", "correlation coefficient"),
             ("volume", "volume over the true one"))  # fmt: skip
    for axes, (field, title) in zip(panels, kinds, strict=True):
        for shift, method in enumerate(methods):
            values = [[getattr(one, field) for one in measures[name, method]] for name in applications]
            places = np.arange(len(applications)) + 0.27 * (shift - (len(methods) - 1) / 2)
            boxes = axes.boxplot(
                values, positions=places, widths=0.22, patch_artist=True, flierprops={"markersize": 3},
                medianprops={"color": "black"},
            )  # fmt: skip
            for box in boxes["boxes"]:
                box.set_facecolor(COLOURS[method])
        axes.set_xticks(range(len(applications)), applications)
        axes.set_title(title, loc="left")
        axes.grid(axis="y", alpha=0.3)
        if field != "volume":
            axes.set_ylim(min(0.0, axes.get_ylim()[0]), 1)
    panels[2].axhline(1, color="black", linewidth=0.8, linestyle=":")
    panels[2].set_ylim(bottom=0)
    handles = [Patch(facecolor=COLOURS[method], edgecolor="black", label=TITLES[method]) for method in methods]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(methods), frameon=False)
    return figure


def _options(figure: Any, options: Mapping[tuple[str, float], Mapping[str, Sequence[Judged]]]) -> Any:
    """Draw the coefficient and the share of bursts missed over level, γ and κ (figures 17 and 18)."""
    titles = {"level": "level of the wavelet", "gamma": "γ: share of the runs that make a unit dense",
              "kappa": "κ: share of the runs that must have a burst"}  # fmt: skip
    panels = figure.subplots(2, len(titles), sharey="row", sharex="col")
    for column, (option, title) in enumerate(titles.items()):
        known = {value: by_name for (name, value), by_name in options.items() if name == option}
        values = sorted(known)
        for application, marker in _MARKERS.items():
            judged = [known[value][application] for value in values]
            means = [np.mean([one.coefficient for one in several]) for several in judged]
            spread = [np.std([one.coefficient for one in several]) for several in judged]
            panels[0, column].errorbar(
                values, means, spread, marker=marker, capsize=3, linewidth=1.2, label=application, alpha=0.9
            )
            missed = [
                100 * sum(one.missed for one in several) / sum(one.bursts for one in several) for several in judged
            ]
            panels[1, column].plot(values, missed, marker=marker, linewidth=1.2, label=application, alpha=0.9)
        panels[1, column].set_xlabel(title)
        panels[1, column].set_xticks(values)
        for axes in panels[:, column]:
            axes.grid(alpha=0.3)
    panels[0, 0].set_ylabel("correlation coefficient")
    panels[1, 0].set_ylabel("bursts missed (%)")
    panels[0, 0].set_ylim(0, 1)
    panels[1, 0].set_ylim(bottom=0)
    panels[0, 0].legend(loc="lower left", frameon=False)
    return figure


def _times(figure: Any, times: Times) -> Any:
    """Draw the time over the number of samples and over their length (figure 19)."""
    panels = figure.subplots(1, 2)
    shortest = min(length for _, length, _, _ in times)
    usual = max({count for count, _, _, _ in times}, key=lambda count: len([one for one in times if one[0] == count]))
    chosen = (
        (f"samples of {shortest:,} values each", [(one[0], *one[2:]) for one in times if one[1] == shortest]),
        (f"values of each of {usual} samples", sorted(one[1:] for one in times if one[0] == usual)),
    )
    for axes, (title, rows) in zip(panels, chosen, strict=True):
        for place, method in ((1, "iosi"), (2, "dtw")):
            known = [row for row in rows if row[place] is not None]
            axes.plot(
                [row[0] for row in known], [row[place] for row in known], marker="o", color=COLOURS[method],
                label=TITLES[method],
            )  # fmt: skip
        axes.set_xlabel(title)
        axes.set_xticks([row[0] for row in rows])
        axes.set_ylabel("s of CPU")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    panels[0].legend(frameon=False)
    return figure
