"""What a recorder tells of a run and what it does not: part of the definitions, for commands to say so."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from .counters import Counters, CounterTotal
from .document import Document
from .errors import SelectionError

Rows = Literal["operations", "intervals", "extents", "none"]


@dataclass(frozen=True)
class Recording:
    """What a recorder tells; the defaults are those of OTF2.

    Attributes
    ----------
    recorder, format : str
        Its name, and name and version of the file format as `info` shows them.
    facts : mapping of str
        What else documents tell of the format.
    rows : {"operations", "intervals", "extents", "none"}
        Whether a row of operations is one, or what was moved within an interval of time, by who knows how many, or
        between the first and the last transfer on a file; or there are no times at all, only `counters`.
    handles : {"recorded", "inferred", "absent"}
        Whether handles and their parents were recorded, made of the names of files, or there are none.
    ranks, nodes, threads, metadata, offsets, collective : bool
        Whether it is known which rank did something, on which node it ran and on which of its threads, when files were
        opened, closed and so on, where in the file an operation was, and which operations are collective.
    flushes : bool
        Whether flushes are among the operations.
    layers : tuple of str or None
        Layers whose operations it would have recorded had there been any; None where these are the layers that the
        definitions name, and empty where nobody knows.
    called : tuple of str
        Layers that were made of calls of functions: parents of their handles are inferred from what was called in what,
        and of an operation of unknown bytes, those requested are the least that it moved.
    amounts : str
        What amounts are taken as where the recorder does not name their unit; empty where they are bytes.
    whole_seconds : bool
        Whether the run's end is known to whole seconds only, rounded up.
    counters : Counters, optional
    notes : tuple of str
        What else one has to know before trusting a number, a sentence each.
    remedy : str
        How to record more, for messages that refuse something.
    kept_in : str
        Format of the file that the recorder's own was converted to; empty where it was not.
    """

    recorder: str = "OTF2"
    format: str = ""
    facts: Mapping[str, str | int] = field(default_factory=dict)
    rows: Rows = "operations"
    handles: Literal["recorded", "inferred", "absent"] = "recorded"
    ranks: bool = True
    nodes: bool = True
    threads: bool = True
    metadata: bool = True
    offsets: bool = True
    collective: bool = True
    flushes: bool = True
    layers: tuple[str, ...] | None = None
    called: tuple[str, ...] = ()
    amounts: str = ""
    whole_seconds: bool = False
    counters: Counters | None = None
    notes: tuple[str, ...] = ()
    remedy: str = ""
    kept_in: str = ""

    def counted(self, layers: Collection[str], directions: Collection[str]) -> "list[CounterTotal]":
        """Return what was summed up without times of some layers, all where there are none, and directions."""
        return [
            one
            for one in (() if self.counters is None else self.counters.totals())
            if (not layers or one.layer in layers) and ("total" in directions or one.direction in directions)
        ]

    @property
    def missing(self) -> tuple[str, ...]:
        """What is not recorded, in words; empty where everything is."""
        found = [one.words for one in CAPABILITIES.values() if one.words and not one.known(self, counted=True)]
        unit = f"the unit of amounts (taken as {self.amounts})"
        return (found[0],) if self.rows == "none" else (unit, *found) if self.amounts else tuple(found)

    def knows(self, *needs: str) -> bool:
        """Tell whether something that needs some of `CAPABILITIES` is available here."""
        return not self.reason(*needs)

    def reason(self, *needs: str) -> str:
        """Return why something that needs some of `CAPABILITIES` is not available here; empty where it is."""
        lacking = (one for one in map(CAPABILITIES.__getitem__, needs) if not one.known(self))
        return next((f"{self.recorder} {one.reason}" for one in lacking), "")

    def require(self, path: object, what: str, *needs: str) -> None:
        """Do nothing where all of `needs` are known; SelectionError elsewhere, which says that `what` needs them."""
        reason = self.reason(*needs)
        if reason:
            raise SelectionError(f"{path}: {reason}, which {what} needs; {self.remedy or 'layers and periods work'}")

    def to_dict(self) -> Document:
        """Return the object ``recording`` of documents."""
        return {
            "recorder": self.recorder,
            "format": self.format,
            **({"kept_in": self.kept_in} if self.kept_in else {}),
            **self.facts,
            **({"called": list(self.called)} if self.called else {}),
            **{one.field: getattr(self, one.field) for one in CAPABILITIES.values()},
            "missing": list(self.missing),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Capability:
    """Something that a recorder may know, as views, metrics and findings need it.

    Attributes
    ----------
    field : str
        The field of `Recording` that decides.
    values : tuple
        Values of the field with which it is known.
    words : str
        It as an entry of the list of what is not recorded; empty where another one says so.
    reason : str
        Why it is not known, after the name of the recorder.
    counts : tuple of str
        Counters that tell as much of it as there is to tell where single operations are not known.
    """

    field: str
    values: tuple[object, ...]
    words: str
    reason: str
    counts: tuple[str, ...] = ()

    def known(self, recording: Recording, counted: bool = False) -> bool:
        """Tell whether a recording has it; where `counted`, also as sums only."""
        counters = recording.counters
        if counted and recording.rows != "operations" and counters is not None and counters.counts.keys() & self.counts:
            return True
        return getattr(recording, self.field) in self.values


def _flag(field: str, words: str, reason: str, *counts: str) -> Capability:
    return Capability(field, (True,), words, reason, counts)


CAPABILITIES: Final[Mapping[str, Capability]] = {
    "times": Capability("rows", ("operations", "intervals", "extents"), "times", "recorded no times"),
    "curve": Capability(
        "rows",
        ("operations", "intervals"),
        "what moved when between the first and the last transfer on a file",
        "tells only when the first and the last transfer on a file were",
    ),
    "operations": Capability(
        "rows",
        ("operations",),
        "single operations",
        "recorded no single operations here",
    ),
    "handles": Capability("handles", ("recorded", "inferred"), "handles", "does not tell files or handles"),
    "recorded handles": Capability("handles", ("recorded",), "", "does not tell handles"),
    "ranks": _flag("ranks", "which rank did what", "does not tell which rank did what"),
    "nodes": _flag("nodes", "nodes", "does not tell which node a rank ran on"),
    "threads": _flag("threads", "threads", "does not tell which thread did what"),
    "metadata": _flag(
        "metadata", "opens and closes", "does not tell when files were opened, closed and so on", "opens"
    ),
    "offsets": _flag("offsets", "offsets", "does not tell where in a file an operation was"),
    "collective": _flag(
        "collective", "which calls are collective", "does not tell which calls are collective", "coll_opens", "opens"
    ),
    "flushes": _flag("flushes", "flushes", "does not record flushes", "fsyncs", "flushes", "syncs"),
}
"""All that metrics, findings and commands may need of a recorder, in the order in which it is said to be missing.

A new one is a field of `Recording` and an entry here.
"""

OTF2: Recording = Recording()
