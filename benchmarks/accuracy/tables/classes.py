"""The main table: every class with its target, ours and FTIO."""

from dataclasses import dataclass

import numpy as np

from .shares import Rows, names, of, share, table, with_interval

#: Two scores of a family: what must be frequent (or None), and what must be rare.
SCORES = {
    "null": (None, "stated"),
    "stationary": (None, "split"),
    "period": ("found", "wrong"),
    "regimes": ("found", "wrong"),
    "concurrent": ("found", "wrong"),
    "sweep": ("found", "wrong"),
    "pairs": (None, "changed"),
}
MEANING = {
    "null": "called periodic, %",
    "stationary": "divided into regimes, %",
    "period": "found within 5 %, %; wrong by more than 10 %, %",
    "regimes": "number, periods and boundaries right, %; a regime wrong by more than 10 %, %",
    "concurrent": "both within 2 %, %; main period neither within 5 %, %",
    "sweep": "found within 5 %, %; wrong by more than 10 %, %",
    "pairs": "verdict changed, %",
}


@dataclass(frozen=True)
class Target:
    """Least share of what must be frequent and largest share of what must be rare; None without a target."""

    least: float | None = None
    most: float | None = None

    def __str__(self) -> str:
        parts = [] if self.least is None else [f"≥ {100 * self.least:g}"]
        parts += [] if self.most is None else [f"≤ {100 * self.most:.2g}"]
        return "; ".join(parts) or "–"


def target_of(name: str, family: str) -> Target:
    """Return the target of a class."""
    if "harder" in name or "wandering" in name:
        return Target()
    match family:
        case "null":
            return Target(None, 0.0 if name.startswith("null 800 s/") and name[11:] in NEVER else 0.02)
        case "stationary":
            return Target(None, 0.01)
        case "period":
            return Target(0.85, 0.02) if "background" in name else Target(0.97, 0.01)
        case "regimes":
            return Target(0.95, None)
        case "concurrent":
            return Target(0.95, 0.02)
        case "pairs":
            return Target(None, 1 / 72)
    return Target()


#: Of the first study: signals that must never be periodic.
NEVER = ("one burst", "two bursts", "three bursts", "burst at start and end", "ramp", "constant", "empty")


def met(rows: Rows, family: str, target: Target) -> bool:
    """Whether shares reach the target."""
    frequent, rare = SCORES[family]
    good = target.least is None or frequent is None or share(rows, frequent) >= target.least
    return good and (target.most is None or share(rows, rare) <= target.most + 1e-12)


def _cells(rows: Rows, family: str) -> str:
    frequent, rare = SCORES[family]
    if not rows:
        return "–"
    return (
        with_interval(rows, rare)
        if frequent is None
        else f"{with_interval(rows, frequent)}; {with_interval(rows, rare)}"
    )


def class_tables(rows: Rows) -> str:
    """Return one table a family: class, target, and every method; a cross where ours misses the target."""
    parts = []
    for family in [name for name in MEANING if name != "sweep"]:
        mine = [row for row in rows if row["family"] == family]
        if not mine:
            continue
        methods = names(mine, "method")
        lines = []
        for name in names(mine, "class"):
            target = target_of(name, family)
            cells = [_cells(of(mine, class_=name, method=method), family) for method in methods]
            good = met(of(mine, class_=name, method=methods[0]), family, target)
            lines.append([name, str(target), "" if good else "✗", *cells])
        counted = [row for row in mine if target_of(row["class"], family) != Target()]
        if len(lines) > 1 and counted:
            together = [_cells(of(counted, method=method), family) for method in methods]
            most = Target(None, 0.01) if family == "null" else target_of(lines[0][0], family)
            good = met(of(counted, method=methods[0]), family, most)
            lines.append(["**all with a target**", str(most), "" if good else "✗", *together])
        parts.append(f"### {family}: {MEANING[family]}\n\n" + table(["class", "target", "", *methods], lines))
    return "\n\n".join(parts)


def extras(rows: Rows) -> str:
    """Return what else is judged by class: drift told, pause told, first period of more volume, phases, volumes."""
    lines = []
    for family in ("period", "regimes", "stationary", "concurrent"):
        ours = [row for row in rows if row["family"] == family]
        ours = of(ours, method=ours[0]["method"]) if ours else []
        for name in names(ours, "class"):
            mine = of(ours, class_=name)
            outside = [row["outside"] for row in mine if row.get("outside") is not None]
            ratios = [ratio for row in mine for ratio in row.get("volumes") or []]
            f1 = [row["f1"] for row in mine if row.get("f1") is not None]
            told: list[str] = []
            if family == "period" and share(mine, "split"):
                told.append(f"divided into regimes {with_interval(mine, 'split')}")
            told += [f"{score} told {with_interval(mine, score)}" for score in ("drift", "pause") if score in mine[0]]
            if any("covered" in row for row in mine):
                told.append(f"interval holds the mean of the law {with_interval(mine, 'covered')}")
            if family == "concurrent":
                told.append(f"that of more volume first {with_interval(mine, 'first')}")
            if family == "stationary":
                told.append(f"found {with_interval(mine, 'found')}; wrong {with_interval(mine, 'wrong')}")
            if family == "regimes":
                told.append(f"number {with_interval(mine, 'count')}; boundaries {with_interval(mine, 'boundaries')}")
            lines.append(
                [
                    name,
                    "–" if not ratios else f"{np.median(ratios):.3f}",
                    "–" if not ratios else f"{100 * np.mean([0.95 <= one <= 1.05 for one in ratios]):.0f}",
                    "–" if not outside else f"{100 * np.mean(outside):.2f}",
                    "–" if not f1 else f"{np.mean(f1):.3f}",
                    "; ".join(told),
                ]
            )
    head = ["class", "volume ratio, median", "in 0.95–1.05, %", "bytes outside, %", "F1 of phase starts", "further, %"]
    return table(head, lines)
