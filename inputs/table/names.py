"""Names of the columns of tables: what each is for, which times are in which unit, and which are needed."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from ...model.errors import TraceError

UNITS: Final = {"_s": 10**9, "_ms": 10**6, "_us": 10**3, "_ns": 1}
"""Nanoseconds in a unit, by the end of a column's name; without one times are in s."""
TIMES: Final = {"start": ("start", "begin"), "end": ("end",), "issued": ("issued",)}
_NAMES: Final = {
    "layer": ("layer",),
    "rank": ("rank",),
    "bytes": ("bytes", "bytes_moved"),
    "read": ("bytes_read",),
    "written": ("bytes_written",),
    "requested": ("bytes_requested",),
    "mode": ("mode", "kind", "direction"),
    "thread": ("thread", "location"),
    "node": ("node", "host", "hostname"),
    "handle": ("handle",),
    "parent": ("parent_handle", "parent"),
    "file": ("file",),
    "offset": ("offset",),
    "status": ("status",),
    "collective": ("collective",),
    "non_blocking": ("non_blocking",),
    "function": ("function",),
    "begin_ticks": ("begin_ticks",),
    "end_ticks": ("end_ticks",),
    "operation": ("operation",),
    "event_ticks": ("event_ticks",),
    "event_mode": ("event_mode",),
    "event_flags": ("event_flags",),
    "event_value": ("event_value",),
}
NEEDED: Final = ("layer", "rank", "start", "end", "bytes", "mode")


def roles(names: Iterable[str]) -> tuple[dict[str, str], dict[str, int]]:
    """Return the column of each role among `names`, and the unit of those that are times."""
    there = {name.strip().lower(): name for name in reversed(list(names))}
    if "operation" in there:
        # In a table of iostrata the parent is an operation.
        there.pop("parent", None)
    found, scale = {}, {}
    for role, given in _NAMES.items():
        for name in given:
            if name in there:
                found[role] = there[name]
                break
    for role, given in TIMES.items():
        for name in given:
            for unit, factor in {"": 10**9, **UNITS}.items():
                if role not in found and name + unit in there:
                    found[role], scale[role] = there[name + unit], factor
    return found, scale


def lacking(found: Collection[str]) -> tuple[str, ...]:
    """Return which columns are needed and not there."""
    by_direction = "read" in found or "written" in found
    either = {"bytes", "mode"} if by_direction else set()
    return tuple(role for role in NEEDED if role not in found and role not in either)


def check(path: Path, names: Iterable[str], found: dict[str, str]) -> None:
    missing = lacking(found)
    if missing:
        raise TraceError(f"{path}: {lack_text(missing)}")
    alike = Counter(name.strip().lower() for name in names)
    for name in found.values():
        if alike[name.strip().lower()] > 1:
            raise TraceError(f"{path}: two columns of the table are named {name.strip()!r}; leave one of them out")


def lack_text(missing: Sequence[str]) -> str:
    """Return in words which columns a table lacks."""
    text = f"the table has no column {' or '.join(missing)}; needed are layer, rank, start, end, bytes and mode"
    if "mode" in missing:
        text += " (read, write or flush); without mode, a column bytes_read or bytes_written tells the direction"
    return text
