"""Columns of tables by their roles, and numbers, names and times out of them."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from ...model.arrays import Frozen, Ints, Links, Mask, Octets
from ...model.stream.damage import LocationDamage
from ..functions import NONE, looked_up
from ..parquet import places_of, whole_numbers
from ..rows import lost

_YES_OR_NO: Final = {
    **dict.fromkeys(("true", "t", "yes", "y", "1", "1.0"), 1),
    **dict.fromkeys(("false", "f", "no", "n", "0", "0.0", ""), 0),
}
_ISO: Final = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?"
_ZONE: Final = r"(Z|[+-]\d\d(:?\d\d)?)$"


class TableColumns(Frozen):
    """Columns by their roles, all of one length.

    Attributes
    ----------
    columns : dict
        ``pyarrow.Array`` by role.
    scale : dict
        Nanoseconds in the unit of the times ``start``, ``end`` and ``issued``.
    rows : int
    unreadable : int
        Lines that are none of the table's.
    faults : tuple of str
        Why the table ends early.
    metadata : dict of bytes
        Of a Parquet file's schema.
    since_1970 : bool
        Whether times are known to count from 1970-01-01 UTC; else it is for their size to tell.
    notes : tuple of str
        What one has to know of the times.
    """

    columns: dict[str, Any]
    scale: dict[str, int]
    rows: int
    unreadable: int = 0
    faults: tuple[str, ...] = ()
    metadata: Mapping[bytes, bytes] = field(default_factory=dict)
    since_1970: bool = False
    notes: tuple[str, ...] = ()

    @property
    def losses(self) -> tuple[LocationDamage, ...]:
        """What of the table cannot be read."""
        unreadable = [lost("lines that are no rows of the table", self.unreadable)] if self.unreadable else []
        return (*unreadable, *map(lost, self.faults))

    def blank(self, role: str) -> Mask:
        """Return in which rows nothing stands, bool (n,)."""
        return ~np.asarray(self.columns[role].is_valid())

    def names(self, role: str) -> tuple[Links, tuple[str, ...]]:
        """Return the place of each value in the different texts, −1 for none, and these; none without the column."""
        if role not in self.columns:
            return np.full(self.rows, -1, np.int32), ()
        return places_of(self.columns[role])

    def codes(self, role: str, known: Mapping[str, int]) -> Octets:
        """Return the code of each text, however its letters are written, uint8 (n,); `NONE` for what has none."""
        places, names = self.names(role)
        return looked_up(places, [name.strip().lower() for name in names], known)

    def flags(self, role: str) -> tuple[Mask, Mask]:
        """Return which values say yes, and which say neither yes nor no; a value that is left out says no."""
        said = self.codes(role, _YES_OR_NO)
        return said == 1, (said == NONE) & ~self.blank(role)

    def whole_numbers(self, role: str) -> tuple[Ints, Mask]:
        """Return whole numbers from 0 on, −1 where a row has none, and which rows have something else there."""
        values, whole = whole_numbers(self.columns[role])
        return values, ~whole & ~self.blank(role)


def with_clock_times(table: TableColumns) -> TableColumns:
    """Return the table with start and end in ns since 1970 where most of them are dates and times as in ISO 8601."""
    import pyarrow
    import pyarrow.compute as compute

    texts: dict[str, Any] = {
        role: compute.utf8_trim_whitespace(one)
        for role, one in table.columns.items()
        if role in ("start", "end") and pyarrow.types.is_string(one.type)
    }
    zoned, local = (
        {role: compute.fill_null(compute.match_substring_regex(text, form), False) for role, text in texts.items()}
        for form in (_ISO + _ZONE, _ISO + "$")
    )
    with_zone, without = (sum(compute.sum(mask).as_py() or 0 for mask in masks.values()) for masks in (zoned, local))
    if 2 * (with_zone + without) <= sum(len(text) - text.null_count for text in texts.values()):
        return table
    # Those of the other kind are hours away, and nobody knows how many.
    masks, zone = (zoned, "UTC") if with_zone >= without else (local, None)
    made = {role: _clock_times(compute.if_else(masks[role], texts[role], None), zone) for role in texts}
    columns, scale = {**table.columns, **made}, {**table.scale, **dict.fromkeys(made, 1)}
    notes = table.notes if zone else (*table.notes, "times without a time zone are taken as UTC")
    return replace(table, columns=columns, scale=scale, since_1970=True, notes=notes)


def _clock_times(texts: Any, zone: str | None) -> Any:
    """Return dates and times as ns since 1970; null where there is no such day."""
    import pyarrow

    kind = pyarrow.timestamp("ns", zone)

    def told(text: str | None) -> int | None:
        try:
            found = pyarrow.scalar(text).cast(kind).value
        except pyarrow.ArrowInvalid:
            return None
        return None if found is None else int(found)

    try:
        return texts.cast(kind).cast(pyarrow.int64())
    except pyarrow.ArrowInvalid:
        return pyarrow.array(map(told, texts.to_pylist()), pyarrow.int64())
