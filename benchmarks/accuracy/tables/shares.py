"""Shares with their intervals, and Markdown tables."""

from typing import Any

import numpy as np

Rows = list[dict[str, Any]]
#: Of the standard normal distribution, for 95 %.
Z = 1.959964


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Return the interval (Wilson, 95 %) of a share."""
    if not count:
        return 0.0, 1.0
    share, z2 = hits / count, Z * Z
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z / (1 + z2 / count) * np.sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)


def share(rows: Rows, score: str) -> float:
    """Return the share of rows in which a score is true; NaN without rows that have it."""
    values = [row[score] for row in rows if row.get(score) is not None]
    return float(np.mean(values)) if values else float("nan")


def percent(value: float, digits: int = 1) -> str:
    """Return a share in percent, or a dash."""
    return "–" if np.isnan(value) else f"{100 * value:.{digits}f}"


def with_interval(rows: Rows, score: str) -> str:
    """Return a share in percent with its interval, such as "97.0 (93.6–98.6)"."""
    values = [bool(row[score]) for row in rows if row.get(score) is not None]
    if not values:
        return "–"
    low, high = wilson(sum(values), len(values))
    return f"{100 * np.mean(values):.1f} ({100 * low:.1f}–{100 * high:.1f})"


def table(head: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *lines))


def names(rows: Rows, key: str) -> list[str]:
    """Return the values of a key in the order in which they come."""
    return list(dict.fromkeys(row[key] for row in rows if key in row))


def of(rows: Rows, **wanted: str) -> Rows:
    """Return the rows whose values are those given."""
    wanted = {name.rstrip("_"): value for name, value in wanted.items()}
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]
