"""Tables of confidence: calibration over all classes and in each."""

import numpy as np
import scores

from .shares import Rows, names, of, table, wilson

HIGH = 0.9
FEWEST = 10
DRAWS = 500


def _stated(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    chosen = [row for row in rows if row.get("stated") and row.get("right") is not None]
    return np.array([row["confidence"] for row in chosen]), np.array([float(row["right"]) for row in chosen])


def _each_regime(rows: Rows) -> Rows:
    """Return one row for every regime of a result that states several."""
    return [
        {"method": row["method"], "stated": True, "confidence": confidence, "right": right}
        for row in rows
        for confidence, right in row.get("each regime") or []
    ]


def _interval(score: object, said: np.ndarray, right: np.ndarray) -> str:
    """Return the 95 % interval of a score over bootstrap draws."""
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(DRAWS):
        rows = rng.integers(0, said.size, said.size)
        value = score(said[rows], right[rows])  # type: ignore[operator]
        if value is not None:
            drawn.append(value)
    return f"{np.quantile(drawn, 0.025):.3f} to {np.quantile(drawn, 0.975):.3f}" if drawn else "–"


def confidence_table(rows: Rows) -> str:
    """Return calibration over all classes, over those with a period, and over the sweep."""
    methods = {row["method"] for row in rows if row["family"] != "sweep"}
    everywhere = [row for row in rows if row["method"] in methods]
    sets = {
        "all classes": everywhere,
        "classes with a period": [row for row in everywhere if row["family"] != "null"],
        "sweep": [row for row in rows if row["family"] == "sweep"],
        "each regime, where there are several": _each_regime(rows),
    }
    lines = []
    for name, chosen in sets.items():
        for method in names(chosen, "method"):
            said, right = _stated(of(chosen, method=method))
            if said.size < FEWEST:
                continue
            skill, area = scores.brier_skill(said, right), scores.area_under_curve(said, right)
            high = said >= HIGH
            lines.append(
                [
                    name,
                    method,
                    f"{scores.calibration_error(said, right):.3f} ({_interval(scores.calibration_error, said, right)})",
                    "–" if skill is None else f"{skill:.2f} ({_interval(scores.brier_skill, said, right)})",
                    "–" if area is None else f"{area:.3f}",
                    f"{100 * right.mean():.1f}",
                    "–" if not high.any() else f"{100 * right[high].mean():.1f}",
                    str(said.size),
                ]
            )
    head = ["results stated", "method", "ECE", "Brier skill", "AUROC", "right, %", "right of those ≥ 0.9, %", "results"]
    return table(head, lines)


def by_class(rows: Rows) -> str:
    """Return, for our method, the share right among results stated at 0.9 or more, of each class with a period."""
    lines = []
    ours = [
        row | {"class": "sweep, all points"} if row["family"] == "sweep" else row
        for row in of(rows, method=rows[0]["method"])
    ]
    for name in names(ours, "class"):
        mine = of(ours, class_=name)
        if mine[0]["family"] in ("null", "pairs"):
            continue
        said, right = _stated(mine)
        high = said >= HIGH
        if not said.size:
            continue
        count = int(high.sum())
        low, top = wilson(int(right[high].sum()), count)
        cell = f"{100 * right[high].mean():.1f} ({100 * low:.1f}–{100 * top:.1f})" if count else "–"
        bad = count >= FEWEST and right[high].mean() < HIGH
        lines.append([name, "✗" if bad else "", cell, str(count), f"{said.mean():.3f}", f"{right.mean():.3f}"])
    head = ["class", "", "right of those ≥ 0.9, %", "of these", "mean confidence", "share right"]
    return table(head, lines)
