"""What a recorder tells of a run and what it does not: part of the definitions, for commands to say so."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from .arrays import Ints, Links
from .document import Document, Record
from .errors import SelectionError

Rows = Literal["operations", "intervals", "none"]


@dataclass(frozen=True, eq=False)
class Counters:
    """Sums that a recorder kept of files and ranks, without times: columns of shape (n,), a row a file and rank.

    Attributes
    ----------
    module : int32
        Place in `modules`.
    file : int32
        Row in ``Definitions.files``, −1 where unknown.
    rank : int32
        −1 for a row that the recorder summed over the ranks that share the file.
    reads, writes, bytes_read, bytes_written : int64
        Transfers and the bytes they moved; −1 where the recorder does not count them.
    modules, layers : tuple of str
        Names of the recorder's modules, and of the layer that each watches.
    """

    module: Links
    file: Links
    rank: Links
    reads: Ints
    writes: Ints
    bytes_read: Ints
    bytes_written: Ints
    modules: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()

    def totals(self) -> "tuple[CounterTotal, ...]":
        """Return the sums of each module and direction that moved or transferred anything."""
        found = []
        for place, (module, layer) in enumerate(zip(self.modules, self.layers, strict=True)):
            mine = self.module == place
            for direction in ("read", "write"):
                counts, moved = self.of(direction)
                active = mine & ((counts > 0) | (moved > 0))
                if not active.any():
                    continue
                ranks = np.unique(self.rank[active])
                found.append(
                    CounterTotal(
                        module,
                        layer,
                        direction,
                        _sum(counts[active]),
                        _sum(moved[active]),
                        len(np.unique(self.file[active])),
                        None if (ranks < 0).any() else len(ranks),
                    )
                )
        return tuple(found)

    def of(self, direction: str) -> tuple[Ints, Ints]:
        """Return transfers and bytes of a direction, int64 (n,) each."""
        return (self.reads, self.bytes_read) if direction == "read" else (self.writes, self.bytes_written)


@dataclass(frozen=True)
class CounterTotal(Record):
    """Sums of a module and direction; None where the recorder does not tell."""

    module: str
    layer: str
    direction: str
    operations: int | None
    bytes: int | None
    files: int
    ranks: int | None


def _sum(values: Ints) -> int | None:
    known = values[values >= 0]
    return int(known.sum()) if len(known) else None


@dataclass(frozen=True)
class Recording:
    """What a recorder tells; the defaults are those of OTF2.

    Attributes
    ----------
    recorder, format : str
        Its name, and name and version of the file format as `info` shows them.
    facts : mapping of str
        What else documents tell of the format.
    rows : {"operations", "intervals", "none"}
        Whether a row of operations is one, or what was moved within an interval of time, by who knows how many; or
        there are no times at all, only `counters`.
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
        found = [one.words for one in CAPABILITIES.values() if one.words and not one.known(self)]
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
    """

    field: str
    values: tuple[object, ...]
    words: str
    reason: str

    def known(self, recording: Recording) -> bool:
        """Tell whether a recording has it."""
        return getattr(recording, self.field) in self.values


def _flag(field: str, words: str, reason: str) -> Capability:
    return Capability(field, (True,), words, reason)


CAPABILITIES: Final[Mapping[str, Capability]] = {
    "times": Capability("rows", ("operations", "intervals"), "times", "recorded no times"),
    "operations": Capability(
        "rows",
        ("operations",),
        "single operations",
        "recorded bytes by intervals of time here, no single operations",
    ),
    "handles": Capability("handles", ("recorded", "inferred"), "handles", "does not tell files or handles"),
    "recorded handles": Capability("handles", ("recorded",), "", "does not tell handles"),
    "ranks": _flag("ranks", "which rank did what", "does not tell which rank did what"),
    "nodes": _flag("nodes", "nodes", "does not tell which node a rank ran on"),
    "threads": _flag("threads", "threads", "does not tell which thread did what"),
    "metadata": _flag("metadata", "opens and closes", "does not tell when files were opened, closed and so on"),
    "offsets": _flag("offsets", "offsets", "does not tell where in a file an operation was"),
    "collective": _flag("collective", "which calls are collective", "does not tell which calls are collective"),
    "flushes": _flag("flushes", "flushes", "does not record flushes"),
}
"""All that metrics, findings and commands may need of a recorder, in the order in which it is said to be missing.

A new one is a field of `Recording` and an entry here.
"""

OTF2: Recording = Recording()
