"""What a recorder tells of a run and what it does not: part of the definitions, for commands to say so.

Among it are counters: what it summed up of files and ranks.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Annotated, Any, Final, Literal

import numpy as np

from .arrays import Floats, Frozen, Ints, Links, Mask
from .document import Document, Record, keys_of
from .errors import SelectionError
from .quantities import seconds_text

Rows = Literal["operations", "intervals", "extents", "none"]

_ADDED: Final[tuple[tuple[str, str], ...]] = (
    (r"_start_timestamp$", "first"),
    (r"_end_timestamp$|^max_(byte|read_time$|write_time$)|_alignment$", "largest"),
    (r"rank|access|stride|_size(_d\d)?$|_d\d$|^mode$|^n(dims|points)$|^dataspace_|_var$|chunk|oty|^use_", ""),
)
"""How a counter adds up over files and ranks, by its name; nothing where it does not, and else it is a sum."""


class Counters(Frozen):
    """Sums that a recorder kept of files and ranks: columns of shape (n,), a row a file and rank.

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
    counts : mapping of str to int64
        All else that was counted, by Darshan's names in small letters, without that of the module; −1 where a module
        has no such counter.
    seconds : mapping of str to float64
        Sums of time and points in time, in s from the start of the run, likewise.
    incomplete : tuple of str
        Modules of which records or times are missing.
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
    counts: Mapping[str, Ints] = field(default_factory=dict)
    seconds: Mapping[str, Floats] = field(default_factory=dict)
    incomplete: tuple[str, ...] = ()

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
                took = f"{direction}_time"
                found.append(
                    CounterTotal(
                        module,
                        layer,
                        direction,
                        _sum(counts[active]),
                        _sum(moved[active]),
                        len(np.unique(self.file[active])),
                        None if (ranks < 0).any() else len(ranks),
                        float(self.time(took)[active].sum()) if self.has(took, active) else None,
                    )
                )
        return tuple(found)

    def of(self, direction: str) -> tuple[Ints, Ints]:
        """Return transfers and bytes of a direction, int64 (n,) each."""
        return (self.reads, self.bytes_read) if direction == "read" else (self.writes, self.bytes_written)

    def of_layer(self, layer: str) -> Mask:
        """Return the rows of a layer, bool (n,)."""
        return np.asarray(np.array([name == layer for name in self.layers], np.bool_)[self.module])

    def has(self, name: str, rows: Mask) -> bool:
        """Tell whether a counter is recorded in any of some rows."""
        column = self.counts.get(name, self.seconds.get(name))
        return column is not None and bool((column[rows] >= 0).any())

    def count(self, *names: str) -> Ints:
        """Return the sum of some counters, int64 (n,), 0 where none is recorded."""
        found: Ints = self._summed(self.counts, names, np.int64)
        return found

    def time(self, *names: str) -> Floats:
        """Return the sum of some times in s, float64 (n,), 0 where none is recorded."""
        found: Floats = self._summed(self.seconds, names, np.float64)
        return found

    def _summed(self, columns: Mapping[str, Any], names: tuple[str, ...], kind: type[np.generic]) -> Any:
        key = (kind, names)
        if key not in self._sums:
            known = [np.maximum(columns[name], 0) for name in names if name in columns]
            self._sums[key] = reduce(np.add, known) if known else np.zeros(len(self.module), kind)
            self._sums[key].flags.writeable = False
        return self._sums[key]

    @cached_property
    def _sums(self) -> dict[tuple[type[np.generic], tuple[str, ...]], Any]:
        """What was asked before: many findings ask for the same."""
        return {}

    def module_sums(self) -> list[Document]:
        """Return all that adds up, by module: the entries of documents."""
        found = []
        for place, (module, layer) in enumerate(zip(self.modules, self.layers, strict=True)):
            mine = self.module == place
            sums: dict[str, Any] = {"module": module, "layer": layer, "records": int(mine.sum())}
            for name, column in {**self.counts, **self.seconds}.items():
                how = next((how for pattern, how in _ADDED if re.search(pattern, name)), "sum")
                known = column[mine & (column > 0 if how == "first" else column >= 0)]
                if how and len(known):
                    sums[name] = getattr(known, _REDUCED[how])().item()
            found.append(sums)
        return found


_REDUCED: Final = {"sum": "sum", "first": "min", "largest": "max"}


class MpiTime(Frozen):
    """Time in s in calls of MPI, without those of MPI-IO: the mean over ranks, and the rank with most of it.

    Attributes
    ----------
    mean_s, longest_s : float
    rank : int
    calls : mapping of str to float
        The mean over ranks by call.
    """

    mean_s: float
    longest_s: float
    rank: int
    calls: Mapping[str, float]

    @property
    def most(self) -> str:
        """The two calls that take most, in words."""
        most = sorted(self.calls, key=lambda name: -self.calls[name])[:2]
        return " and ".join(f"{name} {seconds_text(self.calls[name])}" for name in most if self.calls[name] > 0)


class CounterTotal(Record):
    """Sums of a module and direction; None where the recorder does not tell."""

    module: str
    layer: str
    direction: str
    operations: int | None
    bytes: int | None
    files: int
    ranks: int | None
    summed_s: float | None = None


def _sum(values: Ints) -> int | None:
    known = values[values >= 0]
    return int(known.sum()) if len(known) else None


_RANK: Final = re.compile(r"(?<![^\s(\[])rank(s?)(?![^\s,.;:)\]])")
_KEYS: Final = {
    **keys_of(str, "recorder format kept_in?"),
    "rows": Rows,
    "handles": Literal["recorded", "inferred", "absent"],
    **keys_of(bool, "ranks nodes threads metadata offsets collective flushes"),
    **keys_of(tuple[str, ...], "called? missing notes"),
    "*": Annotated[str | int, "What else is known of the format."],
}


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
    processes : bool
        Whether its processes are not known to be ranks of MPI; `told` then calls them processes.
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
    mpi : MpiTime, optional
        What was summed up of calls of MPI.
    notes : tuple of str
        What else one has to know before trusting a number, a sentence each.
    remedy : str
        How to record more, for messages that refuse something.
    without : tuple of str
        What else is not recorded, beside `CAPABILITIES`, in words.
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
    processes: bool = False
    layers: tuple[str, ...] | None = None
    called: tuple[str, ...] = ()
    amounts: str = ""
    whole_seconds: bool = False
    counters: Counters | None = None
    mpi: MpiTime | None = None
    notes: tuple[str, ...] = ()
    remedy: str = ""
    without: tuple[str, ...] = ()
    kept_in: str = ""

    def counted(self, layers: Collection[str], directions: Collection[str]) -> "list[CounterTotal]":
        """Return what was summed up without times of some layers, all where there are none, and directions."""
        totals = () if self.counters is None else self.counters.totals()
        own = [one for one in totals if not layers or one.layer in layers]
        return [one for one in own if "total" in directions or one.direction in directions]

    def told(self, text: str) -> str:
        """Return a text that calls processes ranks; where they are none of MPI as far as anybody knows, processes.

        >>> Recording(processes=True).told("2 ranks, rank 1 most of all on /data/rank 1/slow-ranks.h5")
        '2 processes, process 1 most of all on /data/rank 1/slow-ranks.h5'
        """
        if not self.processes:
            return text
        return _RANK.sub(lambda found: "processes" if found[1] else "process", text)

    @property
    def missing(self) -> tuple[str, ...]:
        """What is not recorded, in words; empty where everything is."""
        found = [one.words for one in CAPABILITIES.values() if one.words and not one.known(self, counted=True)]
        unit = f"the unit of amounts (taken as {self.amounts})"
        return (found[0],) if self.rows == "none" else (*((unit,) if self.amounts else ()), *self.without, *found)

    def knows(self, *needs: str) -> bool:
        """Tell whether something that needs some of `CAPABILITIES` is available here."""
        return not self.reason(*needs)

    def reason(self, *needs: str) -> str:
        """Return why something that needs some of `CAPABILITIES` is not available here; empty where it is."""
        known = self._reasons.get(needs)
        if known is None:
            lacking = (one for one in needs if one in self._lacking)
            known = next((f"{self.recorder} {CAPABILITIES[one].reason}" for one in lacking), "")
            self._reasons[needs] = known
        return known

    @cached_property
    def _lacking(self) -> frozenset[str]:
        return frozenset(name for name, one in CAPABILITIES.items() if not one.known(self))

    @cached_property
    def _reasons(self) -> dict[tuple[str, ...], str]:
        """What was asked before: each metric and each finding asks."""
        return {}

    def require(self, path: object, what: str, *needs: str) -> None:
        """Do nothing where all of `needs` are known; SelectionError elsewhere, which says that `what` needs them."""
        reason = self.reason(*needs)
        if reason:
            raise SelectionError(f"{path}: {reason}, which {what} needs; {self.remedy or 'layers and periods work'}")

    def to_dict(self) -> Annotated[Document, _KEYS]:
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
    "operations": Capability("rows", ("operations",), "single operations", "recorded no single operations here"),
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
