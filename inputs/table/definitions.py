"""Definitions as text: what the columns of a table cannot keep, such as handles and ranks without operations."""

import json
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.definitions import (
    Clock,
    Communicator,
    Definitions,
    Files,
    Group,
    Handles,
    LocationGroups,
    Locations,
    Paradigm,
    SystemTree,
)
from ...model.errors import TraceError
from ...model.recording import OTF2
from ...model.stream.damage import DamageReport
from ...model.stream.keeping import Kept, kept_of, kept_text

_TABLES: Final[dict[str, tuple[type[Any], dict[str, Any]]]] = {
    "system_tree": (SystemTree, {"id": np.uint32, "name": str, "class_name": str, "parent": np.int32}),
    "groups": (
        LocationGroups,
        {"id": np.uint32, "name": str, "kind": np.uint8, "node": np.int32, "rank": np.int32},
    ),
    "locations": (
        Locations,
        {"id": np.uint64, "name": str, "kind": np.uint8, "events": np.uint64, "group": np.int32},
    ),
    "files": (
        Files,
        {"id": np.uint32, "name": str, "directory": np.bool_, "scope": np.int32, "properties": dict},
    ),
    "handles": (
        Handles,
        {
            "id": np.uint32,
            "name": str,
            "file": np.int32,
            "paradigm": np.int32,
            "flags": np.uint32,
            "communicator": np.uint32,
            "parent": np.int32,
            "precreated": np.bool_,
            "precreated_mode": np.uint8,
            "precreated_status": np.uint32,
        },
    ),
}
"""Tables of definitions, and what their columns hold."""
KEPT_AS: Final = "Table"
"""The recorder of a trace that was recorded in OTF2 and written as a table."""
_LINKS: Final = {
    ("system_tree", "parent"): "system_tree",
    ("groups", "node"): "system_tree",
    ("locations", "group"): "groups",
    ("files", "scope"): "system_tree",
    ("handles", "file"): "files",
    ("handles", "parent"): "handles",
}


def definitions_text(definitions: Definitions, damage: DamageReport | None = None) -> str:
    """Return definitions as JSON, and what was lost when the trace was read."""
    clock = definitions.clock
    found: dict[str, Any] = {
        "clock": [clock.ticks_per_second, clock.start, clock.length, clock.realtime_ns],
        "paradigms": [
            [one.id, one.identification, one.name, one.parallel, one.os, [list(pair) for pair in one.properties]]
            for one in definitions.paradigms
        ],
        "location_sets": [
            [one.id, one.name, one.kind, one.paradigm, one.members.tolist()] for one in definitions.location_sets
        ],
        "communicators": [[one.id, one.name, one.group, one.parent] for one in definitions.communicators],
        "recording": kept_text(definitions.recording, damage),
    }
    for name, (_, columns) in _TABLES.items():
        table = getattr(definitions, name)
        found[name] = {
            column: getattr(table, column).tolist() if kind not in (str, dict) else list(getattr(table, column))
            for column, kind in columns.items()
        }
    return json.dumps(found, ensure_ascii=True, separators=(",", ":"))


def definitions_of(text: bytes, path: object, metadata: bool = False) -> tuple[Definitions, Kept]:
    """Return the definitions that `definitions_text` wrote, and what it kept of the recorder.

    `metadata` says whether the table has metadata events too. Raises TraceError if it is something else.
    """
    try:
        found = json.loads(text)
        made: dict[str, Any] = {}
        for name, (table, columns) in _TABLES.items():
            given = {column: _column(found[name][column], kind) for column, kind in columns.items()}
            if len({len(column) for column in given.values()}) != 1:
                raise ValueError(f"columns of {name} differ in length")
            made[name] = table(**given)
        for (name, column), target in _LINKS.items():
            links = getattr(made[name], column)
            if len(links) and not -1 <= int(links.min()) <= int(links.max()) < len(made[target].id):
                raise ValueError(f"{column} of {name} is out of range")
        ticks, start, length, realtime = found["clock"]
        if not 0 < int(ticks) < 2**63 or not 0 <= int(length) < 2**64:
            raise ValueError("no clock")
        kept = kept_of(found["recording"], made["locations"].id, len(made["files"].id))
        native = kept.recording.recorder == OTF2.recorder
        recording = replace(
            kept.recording,
            recorder=KEPT_AS if native else kept.recording.recorder,
            format=kept.recording.format or kept.recording.recorder,
            kept_in="Parquet of iostrata",
            metadata=metadata and kept.recording.metadata,
        )
        definitions = Definitions(
            clock=Clock(int(ticks), int(start), int(length), None if realtime is None else int(realtime)),
            paradigms=tuple(
                Paradigm(int(identity), str(one), str(name), bool(parallel), bool(os), tuple(map(_pair, properties)))
                for identity, one, name, parallel, os, properties in found["paradigms"]
            ),
            location_sets=tuple(
                Group(int(identity), str(name), int(kind), int(paradigm), np.array(members, np.uint64))
                for identity, name, kind, paradigm, members in found["location_sets"]
            ),
            communicators=tuple(
                Communicator(int(identity), str(name), group, parent)
                for identity, name, group, parent in found["communicators"]
            ),
            attributes={},
            recording=recording,
            **made,
        )
        return definitions, kept
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise TraceError(f"{path}: the definitions in this table cannot be read ({error}); write it again") from None


def _column(values: Any, kind: Any) -> Any:
    if not isinstance(values, list):
        raise TypeError("a column that is no list")
    if kind is str:
        return tuple(map(str, values))
    if kind is dict:
        return tuple({str(key): str(value) for key, value in one.items()} for one in values)
    column: npt.NDArray[Any] = np.array(values, dtype=kind)
    if column.ndim != 1:
        raise ValueError("a column that is no list of numbers")
    return column


def _pair(pair: Any) -> tuple[str, str]:
    key, value = pair
    return str(key), str(value)
