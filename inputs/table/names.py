"""Names of the columns of tables: what each is for, which times are in which unit, and which are needed."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from ...model.errors import TraceError
from ...model.events import EVENT_TYPES

UNITS: Final = {"": 10**9, "_s": 10**9, "_ms": 10**6, "_us": 10**3, "_ns": 1}
"""Nanoseconds in a unit, by the end of a column's name; without one times are in s."""
TIMES: Final = {"start": ("start", "begin"), "end": ("end",), "issued": ("issued",)}
NEEDED: Final = ("layer", "rank", "start", "end", "bytes", "mode")
OWN: Final = ("begin_ticks", "end_ticks", "operation", *EVENT_TYPES)
"""Columns that tables of ours have beside those of anybody."""
_ROLES: Final = (
    *("layer", "rank", "bytes", "read", "written", "requested", "mode", "thread", "node", "handle", "parent", "file"),
    *("offset", "status", "collective", "non_blocking", "function", *OWN),
)
_OTHER_NAMES: Final = {
    "bytes": ("bytes", "bytes_moved"),
    "read": ("bytes_read",),
    "written": ("bytes_written",),
    "requested": ("bytes_requested",),
    "mode": ("mode", "kind", "direction"),
    "thread": ("thread", "location"),
    "node": ("node", "host", "hostname"),
    "parent": ("parent_handle", "parent"),
}
"""Names of columns whose role is not their name, or not the only one; the first that is there counts."""


def roles(names: Iterable[str]) -> tuple[dict[str, str], dict[str, int]]:
    """Return the column of each role among `names`, and the unit of those that are times."""
    there = {name.strip().lower(): name for name in reversed(list(names))}
    if "operation" in there:
        # In a table of iostrata the parent is an operation.
        there.pop("parent", None)
    found, scale = {}, {}
    for role in _ROLES:
        known = [there[name] for name in _OTHER_NAMES.get(role, (role,)) if name in there]
        if known:
            found[role] = known[0]
    for role, given in TIMES.items():
        named = [(name + unit, factor) for name in given for unit, factor in UNITS.items()]
        units = [(there[name], factor) for name, factor in named if name in there]
        if units:
            found[role], scale[role] = units[0]
    return found, scale


def lacking(found: Collection[str]) -> tuple[str, ...]:
    """Return which columns are needed and not there."""
    by_direction = "read" in found or "written" in found
    either = {"bytes", "mode"} if by_direction else set()
    return tuple(role for role in NEEDED if role not in found and role not in either)


def table_roles(path: Path, names: Iterable[str]) -> tuple[dict[str, str], dict[str, int]]:
    """Return as `roles`; TraceError where a column is missing that is needed, or two have the same name."""
    names = list(names)
    found, scale = roles(names)
    missing = lacking(found)
    if missing:
        raise TraceError(f"{path}: {lack_text(missing)}")
    alike = Counter(name.strip().lower() for name in names)
    for name in found.values():
        if alike[name.strip().lower()] > 1:
            raise TraceError(f"{path}: two columns of the table are named {name.strip()!r}; leave one of them out")
    return found, scale


def lack_text(missing: Sequence[str]) -> str:
    """Return in words which columns a table lacks."""
    text = f"the table has no column {' or '.join(missing)}; needed are layer, rank, start, end, bytes and mode"
    if "mode" in missing:
        text += " (read, write or flush); without mode, a column bytes_read or bytes_written tells the direction"
    return text
