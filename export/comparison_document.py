"""The documents of ``iostrata compare --json`` and of the tables of ``iostrata layers --by``."""

from typing import Any

from ..layers.breakdown import Breakdown
from .comparison import Comparison
from .documents import Document, damage_entry, head


def comparison_document(comparison: Comparison) -> Document:
    """Return the document of ``iostrata compare``."""
    return {
        **head(comparison.trace),
        "pairs": pair_entries(comparison),
        "balance": [one.to_dict() for one in comparison.balances],
        "time": [one.to_dict() for one in comparison.times],
        "hidden": [one.to_dict() for one in comparison.hidden],
        "findings": [one.to_dict() for one in comparison.findings],
        "damage": damage_entry(comparison.trace.damage),
    }


def pair_entries(comparison: Comparison, tables: bool = True) -> list[dict[str, Any]]:
    """Return an entry for each pair of layers and direction; `tables` as in `Flow.to_dict`."""
    entries = []
    for place, flow in enumerate(comparison.flows):
        periods = comparison.periods.get(place)
        entries.append({**flow.to_dict(tables), **(periods.to_dict() if periods else {})})
    return entries


def breakdown_entry(table: Breakdown) -> Document:
    """Return the object ``breakdown`` of ``iostrata layers --by``."""
    return {"by": table.by, "rows": table.to_dict()}
