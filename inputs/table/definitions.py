"""Definitions as text: what the columns of a table cannot keep, such as handles and ranks without operations."""

import json
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ...model.codes import PROCESS
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
from ...model.stream.keeping import KeptOrigin, decoded, kept_of, kept_text

_TABLES: Final = {
    "system_tree": SystemTree,
    "groups": LocationGroups,
    "locations": Locations,
    "files": Files,
    "handles": Handles,
}
"""Definitions that are columns."""
_RECORDS: Final = {"paradigms": Paradigm, "location_sets": Group, "communicators": Communicator}
"""Definitions that are a list, of the fields of each."""
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
    found: dict[str, Any] = {
        "clock": [*vars(definitions.clock).values()],
        **{name: [[*vars(one).values()] for one in getattr(definitions, name)] for name in _RECORDS},
        "recording": kept_text(definitions.recording, damage),
        **{name: vars(getattr(definitions, name)) for name in _TABLES},
    }
    return json.dumps(found, ensure_ascii=True, separators=(",", ":"), default=np.ndarray.tolist)


def definitions_of(text: bytes, path: object, metadata: bool = False) -> tuple[Definitions, KeptOrigin]:
    """Return the definitions that `definitions_text` wrote, and what it kept of the recorder.

    `metadata` says whether the table has metadata events too. Raises TraceError if it is something else.
    """
    try:
        found = json.loads(text)
        clock: Clock = decoded(found["clock"], Clock)
        if not 0 < clock.ticks_per_second < 2**63 or not 0 <= clock.length < 2**64:
            raise ValueError("no clock")
        made = _tables(found)
        for name, kind in _RECORDS.items():
            made[name] = decoded(found[name], tuple[kind, ...])  # type: ignore[valid-type]
        processes = int(np.count_nonzero(made["groups"].kind == PROCESS))
        kept = kept_of(found["recording"], made["locations"].id, len(made["files"].id), processes)
        native = kept.recording.recorder == OTF2.recorder
        recording = replace(
            kept.recording,
            recorder=KEPT_AS if native else kept.recording.recorder,
            format=kept.recording.format or kept.recording.recorder,
            kept_in="Parquet of iostrata",
            metadata=metadata and kept.recording.metadata,
        )
        return Definitions(clock=clock, attributes={}, recording=recording, **made), kept
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise TraceError(f"{path}: the definitions in this table cannot be read ({error}); write it again") from None


def _tables(found: Any) -> dict[str, Any]:
    made = {name: decoded(found[name], table) for name, table in _TABLES.items()}
    for name, table in made.items():
        if len({len(column) for column in vars(table).values()}) != 1:
            raise ValueError(f"columns of {name} differ in length")
    for (name, column), target in _LINKS.items():
        links = getattr(made[name], column)
        if len(links) and not -1 <= int(links.min()) <= int(links.max()) < len(made[target].id):
            raise ValueError(f"{column} of {name} is out of range")
    return made
