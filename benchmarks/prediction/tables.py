"""The tables of the prediction study."""

from collections.abc import Iterable
from statistics import mean, median
from typing import Any

Row = dict[str, Any]
FEWEST = 3
"""Place in a regime from which on something can be said: the fourth phase."""
NEAR = 0.1


def tables(rows: list[Row]) -> str:
    """Return Markdown of all that is told."""
    names = list(dict.fromkeys(row["predictor"] for row in rows))
    parts = []
    for title, made in (("Made runs", True), ("Recordings", False)):
        of = [row for row in rows if row["made"] is made]
        theirs = {row["stream"] for row in of if row["predictor"] != names[0]}
        shared = f"{names[0]}, on the {len(theirs)} streams that FTIO was asked of"
        if of:
            streams = len({row["stream"] for row in of})
            both = [row for row in of if row["predictor"] == names[0] and row["stream"] in theirs]
            compared = [*of, *({**row, "predictor": shared} for row in both)]
            told = [names[0], *([shared, *names[1:]] if theirs else [])]
            count = sum(row["predictor"] == names[0] for row in of)
            parts += [f"### {title}: {streams} streams, {count:,} ends of a phase", "", *_starts(compared, told), ""]
            mine = [row for row in of if row["predictor"] == names[0]]
            later = [{**row, **row["later"]} for row in mine if row["later"]]
            parts += ["Asked at the end of each phase:", "", *_calibration(mine), ""]
            parts += ["Asked at a random time of the pause after it:", "", *_calibration(later), ""]
            if made:
                parts += [*_changes(compared, told), ""]
    ours = [row for row in rows if row["predictor"] == names[0] and row["probability"] is not None]
    stated, began = mean(row["probability"] for row in ours), mean(map(_hit, ours))
    parts.append(f"All together: {len(ours):,} predictions, stated {stated:.3f}, began in the interval {began:.3f}.")
    return "\n".join(parts)


def _starts(rows: list[Row], names: list[str]) -> Iterable[str]:
    yield (
        "| predictor | says something, from the 4th phase of a regime on | median error of the next start, share of "
        "the period | 90th percentile | ms of processor time an answer |"
    )
    yield "|---|---|---|---|---|"
    for name in names:
        of = [row for row in rows if row["predictor"] == name]
        due = [row for row in of if row["of_regime"] >= FEWEST]
        said = [row for row in of if row["start"] is not None]
        errors = sorted(abs(row["start"] - row["true_start"]) / row["true_period"] for row in said) or [float("nan")]
        share = sum(row["start"] is not None for row in due) / max(len(due), 1)
        time = f"{1000 * mean(row['seconds'] for row in of):.1f}" if "FTIO" not in name else ""
        yield f"| {name} | {share:.1%} | {median(errors):.2%} | {errors[int(0.9 * len(errors))]:.1%} | {time} |"


def _calibration(rows: list[Row]) -> Iterable[str]:
    said = [row for row in rows if row["probability"] is not None]
    yield "| stated probability | predictions | its mean | began in the interval | median width, share of the period |"
    yield "|---|---|---|---|---|"
    for low, high in ((0.0, 0.5), (0.5, 0.8), (0.8, 0.85), (0.85, 0.87), (0.87, 0.9), (0.0, 1.0)):
        of = [row for row in said if low <= row["probability"] < high]
        if of:
            width = median((row["interval"][1] - row["interval"][0]) / row["true_period"] for row in of)
            label = "all" if (low, high) == (0.0, 1.0) else f"{low:g} to {high:g}"
            stated = mean(row["probability"] for row in of)
            yield f"| {label} | {len(of):,} | {stated:.3f} | {mean(map(_hit, of)):.3f} | {width:.1%} |"


def _hit(row: Row) -> bool:
    return bool(row["interval"][0] <= row["true_start"] <= row["interval"][1])


def _changes(rows: list[Row], names: list[str]) -> Iterable[str]:
    places = range(FEWEST, 8)
    yield f"After a change of period, share of regimes of whose period the answer is within {NEAR:.0%}:"
    yield ""
    yield "| predictor | " + " | ".join(f"after phase {place + 1}" for place in places) + " |"
    yield "|---|" + "---|" * len(places)
    for name in names:
        cells = []
        for place in places:
            of = [row for row in rows if row["predictor"] == name and row["regime"] > 0 and row["of_regime"] == place]
            cells.append(f"{mean(map(_near, of)):.1%}" if of else "")
        yield f"| {name} | " + " | ".join(cells) + " |"


def _near(row: Row) -> bool:
    return row["period"] is not None and abs(row["period"] / row["true_period"] - 1) <= NEAR
