"""Documents about a trace: what every one begins with."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, Literal

from ..model.definitions import Definitions
from ..model.document import SCHEMA_VERSION, Document, keys_of
from ..model.stream.damage import DAMAGE, damage_entry
from ..model.stream.source import Tally
from .layer import Layer
from .trace import Trace

RAN: Final = {"path": str, "duration_s": float, **keys_of(int, "locations ranks nodes events io_events")}
"""Keys of what ran."""
TRACE: Final = {
    **RAN,
    "window_s": tuple[float, float],
    **keys_of(str, "files engine recorder"),
    "not_recorded": list[str],
    "processes?": Annotated[bool, "True where ranks are numbers of processes that are not known to be ranks of MPI."],
    "signals": Literal["exact", "binned"],
    "resolution_s?": float,
}
OF_TRACE: Final = {"schema_version": int, "trace": Annotated[Document, TRACE], "damage": Annotated[Document, DAMAGE]}
"""Keys of every document about a trace."""


FLUSHES: Final = {"layer": str, "operations": int, "busy_s": float}
"""Keys of what is told of the flushes of a layer."""


def flush_entries(layers: Iterable[Layer]) -> list[Document]:
    """Return what is told of the flushes of layers, of those that have some."""
    told = (one for one in layers if one.flushes)
    return [{"layer": one.name, "operations": one.flushes, "busy_s": one.flush_busy_s} for one in told]


def what_ran(path: Path, definitions: Definitions, duration_s: float, tally: Tally) -> Annotated[Document, RAN]:
    """Return the entries of what ran, and of how much of it was read."""
    return {
        "path": str(path),
        "duration_s": duration_s,
        "locations": len(definitions.locations.id),
        "ranks": definitions.process_count,
        "nodes": definitions.node_count,
        "events": tally.events,
        "io_events": tally.io_events,
    }


def document(trace: Trace, **parts: object) -> Annotated[Document, OF_TRACE]:
    """Return a document about a trace: what every one begins with, its own `parts`, and what the trace has lost."""
    return {
        "schema_version": SCHEMA_VERSION,
        "trace": {
            **what_ran(trace.path, trace.definitions, trace.duration, trace.tally),
            "window_s": trace.window,
            "files": trace.files,
            "engine": trace.stream.engine,
            "recorder": trace.definitions.recording.recorder,
            "not_recorded": list(trace.definitions.recording.missing),
            **({"processes": True} if trace.definitions.recording.processes else {}),
            "signals": "exact" if trace.resolution is None else "binned",
            **({} if trace.resolution is None else {"resolution_s": trace.resolution}),
        },
        **parts,
        "damage": damage_entry(trace.damage),
    }
