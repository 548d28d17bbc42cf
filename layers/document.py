"""Documents about a trace: what every one begins with."""

from ..model.document import SCHEMA_VERSION, Document
from ..model.stream.damage import damage_entry
from .trace import Trace


def document(trace: Trace, **parts: object) -> Document:
    """Return a document about a trace: what every one begins with, its own `parts`, and what the trace has lost."""
    return {
        "schema_version": SCHEMA_VERSION,
        "trace": {
            "path": str(trace.path),
            "duration_s": trace.duration,
            "locations": len(trace.definitions.locations.id),
            "ranks": trace.ranks,
            "nodes": trace.definitions.node_count,
            "events": trace.tally.events,
            "io_events": trace.tally.io_events,
            "window_s": trace.window,
            "files": trace.files,
            "engine": trace.stream.engine,
            "recorder": trace.definitions.recording.recorder,
            "not_recorded": list(trace.definitions.recording.missing),
            "signals": "exact" if trace.resolution is None else "binned",
            **({} if trace.resolution is None else {"resolution_s": trace.resolution}),
        },
        **parts,
        "damage": damage_entry(trace.damage),
    }
