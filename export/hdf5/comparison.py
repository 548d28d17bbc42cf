"""The group ``comparison`` of an HDF5 file: a row for each pair of layers and direction, and what belongs to it."""

from typing import Any, Final

from ...analysis.comparison.layers import Comparison, pair_entries
from ...analysis.comparison.periods import VERDICTS
from .variables import GroupWriter

_NUMBERS: Final = (
    ("upper_operations", "1", "operations of the upper layer"),
    ("lower_operations", "1", "operations of the lower layer by descent: through handles below the upper layer's"),
    ("upper_bytes", "byte", "bytes that the upper layer moved"),
    ("lower_bytes", "byte", "bytes that the lower layer moved by descent"),
    ("attributed_bytes", "byte", "bytes of the lower layer inside operations of the upper layer"),
    ("inferred_bytes", "byte", "the same where only the enclosing call or another thread tells"),
    ("hidden_bytes", "byte", "bytes by descent inside no operation of the upper layer"),
    ("set_aside_bytes", "byte", "bytes by descent on files that do not count"),
    ("amplification", "1", "lower_bytes over upper_bytes"),
    ("attributed_amplification", "1", "attributed_bytes over upper_bytes"),
    ("fan_out", "1", "mean number of lower operations inside an operation of the upper layer"),
    ("writers_upper", "1", "ranks that moved bytes in the upper layer"),
    ("writers_lower", "1", "ranks that moved bytes in the lower layer, by descent"),
    ("summed_s", "s", "sum of the durations of the upper operations"),
    ("contained_s", "s", "part of it in which an operation of the lower layer ran inside"),
    ("upper_period_s", "s", "period of the upper layer"),
    ("lower_period_s", "s", "period of what the lower layer moved by descent"),
    ("lag_s", "s", "phase lag at the period of the upper layer; positive: the lower layer follows"),
    ("lower_layer_bytes", "byte", "all that the lower layer moved, where nobody knows what served the upper layer"),
    ("coherence", "1", "magnitude-squared coherence at the period of the upper layer"),
)

_PARTS: Final = ("", "upper_", "lower_", "attributed_", "inferred_", "hidden_", "own_", "set_aside_")
_UNITS: Final = {
    **dict.fromkeys((f"{part}operations" for part in _PARTS), "1"),
    **dict.fromkeys((f"{part}bytes" for part in _PARTS), "byte"),
    "upper_from_bytes": "byte",
    "lower_from_bytes": "byte",
    "amplification": "1",
    "pair_row": "1",
}
"""Of the columns of the tables."""

_TEXTS: Final = (
    ("upper", "upper layer"),
    ("lower", "lower layer"),
    ("direction", "direction of the transfers"),
    ("verdict", f"what became of the period: {', '.join(VERDICTS)}; empty where it was not looked for"),
)

_FINDING: Final = ("id", "severity", "layer", "text", "advice")


def write_comparison(writer: GroupWriter, comparison: Comparison) -> None:
    """Write the pairs of layers, their tables by file, by class and by size, and the balance of each layer."""
    entries = pair_entries(comparison)
    row = ("pair",)
    writer.dimension("pair", len(entries))
    for name, long_name in _TEXTS:
        variable = name if name != "direction" else "pair_direction"
        writer.text(variable, row, [str(entry.get(name) or "") for entry in entries], long_name=long_name)
    adjacent = [entry["adjacent"] for entry in entries]
    writer.flags("adjacent", row, adjacent, "whether most lower handles hang directly below the upper layer")
    for name, units, long_name in _NUMBERS:
        writer.floats(name, row, [entry.get(name) for entry in entries], units, long_name)
    for table, text in (("by_file", "file"), ("by_class", "class"), ("request_flow", None)):
        rows = [
            {"pair_row": place, **found}
            for place, flow in enumerate(comparison.flows)
            for found in getattr(flow, table).to_dict()
        ]
        _write_table(writer.subgroup(table), rows, (text,) if text else ())
    _write_table(writer.subgroup("balance"), [one.to_dict() for one in comparison.balances], ("layer", "direction"))
    _write_table(
        writer.subgroup("findings"),
        [{name: getattr(one, name) for name in _FINDING} for one in comparison.findings],
        _FINDING,
    )


def _write_table(writer: GroupWriter, rows: list[dict[str, Any]], texts: tuple[str, ...]) -> None:
    """Write a column for each key of `rows`; all rows have the same keys."""
    writer.dimension("row", len(rows))
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        long_name = name.replace("_", " ")
        if name in texts:
            # Layer and direction are dimensions of the root group, which columns of these names would hide.
            variable = f"row_{name}" if name in ("layer", "direction") else name
            writer.text(variable, ("row",), [str(value or "") for value in values], long_name=long_name)
            continue
        if all(isinstance(value, int) for value in values):
            writer.integers(name, ("row",), values, _UNITS[name], long_name)
        else:
            writer.floats(name, ("row",), values, _UNITS[name], long_name)
