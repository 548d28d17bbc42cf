"""Events of all files of a run together: names, nodes and processes, which each file numbers by itself."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ...model.arrays import Columns, Ints, Links, Mask
from ...model.quantities import counted
from ...model.stream.damage import LocationDamage
from ..functions import EVENTS, PROCESSES, STREAMS, TRANSFERS, looked_up
from ..rows import lost
from .fields import COMPLETE, METADATA, SUMMED, UNKNOWN
from .lines import Lines

LAYERS: Final = {"POSIX": "POSIX", "STDIO": "ISOC"}
"""Layers by DFTracer's categories; functions of other categories are the program's own."""
_RECORDER: Final = "dftracer"
"""The category of what it says of itself."""
_SYSTEM: Final = "sys"
"""DataCrumbs' category of system calls: what one returned is its size, which is left out where it is 0."""
_LAYER_CODES: Final = {**{category: place for place, category in enumerate(LAYERS)}, _SYSTEM: 0}
_NO_LAYER: Final = 255


class Events(Columns):
    """Calls, columns of shape (n,): numbers as in `Lines`, places among all names, layers (−1: none) and processes."""

    tid: Ints
    ts: Ints
    dur: Ints
    fd: Ints
    ret: Ints
    offset: Ints
    count: Ints
    size: Ints
    flags: Ints
    function: Links
    category: Links
    file: Links
    layer: Links
    process: Links


@dataclass
class Joined:
    """Events of files that were added one after the other.

    Attributes
    ----------
    names : dict of int
        All texts of all files, with their numbers.
    processes : dict of int
        Rows of processes by the name of their node and their number there.
    ranks : dict of int
        The rank of each process that tells it.
    unit : int
        ns of the longest unit in which times were written.
    summed : int
        Sums over time that stand in place of calls.
    hashed : dict of str
        The names of files by their hashes, as lines of any file tell; empty where they tell several.
    """

    names: dict[str, int] = field(default_factory=dict)
    processes: dict[tuple[str, int], int] = field(default_factory=dict)
    ranks: dict[int, int] = field(default_factory=dict)
    damage: list[LocationDamage] = field(default_factory=list)
    unit: int = 1
    summed: int = 0
    hashed: dict[str, str] = field(default_factory=dict)
    parts: list[Events] = field(default_factory=list)

    def define(self, part: Lines) -> None:
        """Take the names of files that a file tells: those of a process forked go on with the hashes of the first."""
        for one, name in np.unique(_definitions(part, "FH"), axis=1).T.tolist():
            if self.hashed.setdefault(part.names[one], part.names[name]) != part.names[name]:
                self.hashed[part.names[one]] = ""

    def add(self, part: Lines) -> None:
        """Take the events of a file; the newer dialect gives files and nodes as hashes, which lines of it define."""
        own = np.array([*(self.names.setdefault(one, len(self.names)) for one in part.names), -1], np.int32)
        names, letter = list(self.names), part.columns["ph"]
        self.unit = max(self.unit, part.unit)
        process = self._processes(names, part, own[_resolved(part, "hostname", "hhash", "HH")])
        for row in _defined(part, "PR").tolist():
            what, value = (part.names[part.columns[name][row]] for name in ("arg_name", "arg_value"))
            if what == "rank" and value.isdecimal() and len(value) < 10:
                self.ranks[int(process[row])] = int(value)
        layer = looked_up(part.columns["cat"], part.names, _LAYER_CODES, _NO_LAYER)
        streams = [TRANSFERS.keys() | EVENTS.keys() >= {one} and STREAMS.fullmatch(one) for one in part.names]
        of_streams = np.array([*map(bool, streams), False])[part.columns["name"]]
        layer[(layer == _LAYER_CODES["POSIX"]) & of_streams] = _LAYER_CODES["STDIO"]
        of_processes = np.array([*(PROCESSES.fullmatch(one) is not None for one in part.names), False])
        layer[of_processes[part.columns["name"]]] = _NO_LAYER
        calls = letter == COMPLETE
        texts = {
            "function": own[part.columns["name"]],
            "category": own[part.columns["cat"]],
            "file": self._files(part, own),
            "layer": np.where(layer == _NO_LAYER, -1, layer.astype(np.int32)),
            "process": process,
        }
        system = looked_up(part.columns["cat"], part.names, {_SYSTEM: True}, False).astype(np.bool_)
        ret, size = part.columns["ret"], part.columns["size"]
        returned = np.where(system & (ret == UNKNOWN), np.where(size == UNKNOWN, 0, size), ret)
        columns: Any = part.columns | texts | {"ret": returned}
        events = Events(**{name: columns[name] for name in Events.__annotations__})
        own_notes = looked_up(part.columns["cat"], part.names, {_RECORDER: True}, False).astype(np.bool_)
        self.parts.append(events.take(calls & ~own_notes & (part.columns["ts"] != UNKNOWN)))
        summed = int(np.count_nonzero(letter == SUMMED))
        self.summed += summed
        counts = {
            "events without a time": int(np.count_nonzero(without_time(part))),
            "sums over time in place of calls": summed,
            "lines that cannot be read": part.unreadable,
        }
        hashes, often = np.unique(np.unique(_definitions(part, "FH"), axis=1)[0], return_counts=True)
        transfers = calls & looked_up(part.columns["name"], part.names, dict.fromkeys(TRANSFERS, True), False)
        if astray := int(np.count_nonzero(transfers & np.isin(part.columns["fhash"], hashes[often > 1]))):
            told = counted(astray, "transfer on a file whose hash", "transfers on files whose hashes")
            self.damage.append(lost(f"{told} another file has, too: counted for the first one"))
        self.damage += [lost(reason, count) for reason, count in counts.items() if count]
        if part.fault:
            self.damage.append(lost(part.fault))

    def _files(self, part: Lines, own: Links) -> Links:
        """Return the file of each line; where no line of any file tells the name of a hash, it is called by that."""
        of_name, hashed = _resolved(part, "fname", "fhash", "FH"), part.columns["fhash"]
        found, unnamed = own[of_name], (of_name < 0) & (hashed >= 0)
        for one in np.unique(hashed[unnamed]).tolist():
            unknown = f"file of hash {part.names[one]}, whose name the trace does not tell"
            name = self.hashed.get(part.names[one]) or unknown
            found[unnamed & (hashed == one)] = self.names.setdefault(name, len(self.names))
        return found

    def _processes(self, names: list[str], part: Lines, host: Links) -> Links:
        """Return the process of each line; where a line does not name its node, that of the file's others."""
        keys, where = np.unique(np.stack([host, part.columns["pid"]]), axis=1, return_inverse=True)
        known = ["", *(names[one] for one in keys[0].tolist() if one >= 0)]
        rows = [
            self.processes.setdefault((names[one] if one >= 0 else known[-1], pid), len(self.processes))
            for one, pid in keys.T.tolist()
        ]
        return np.array([*rows, -1], np.int32)[where.reshape(-1)]


def without_time(part: Lines) -> Mask:
    """Return which lines are of no time that can be read, and need one."""
    return np.asarray((part.columns["ts"] == UNKNOWN) & (part.columns["ph"] != METADATA), np.bool_)


def _defined(part: Lines, kind: str) -> Ints:
    """Return the lines of metadata of one kind that have a name and a value."""
    known = [part.columns[name] >= 0 for name in ("arg_name", "arg_value")]
    of_kind = looked_up(part.columns["name"], part.names, {kind: True}, False).astype(np.bool_)
    return np.flatnonzero((part.columns["ph"] == METADATA) & of_kind & known[0] & known[1])


def _definitions(part: Lines, kind: str) -> Ints:
    """Return hashes and what they stand for, as numbers of texts, int64 (2, n)."""
    value, of_hash = part.columns["arg_value"], part.columns["arg_hash"]
    defined = _defined(part, kind)
    found = [np.stack([value[defined], part.columns["arg_name"][defined]])]
    if kind == "FH":
        # DataCrumbs has another form of the line, whatever its name, and for files only.
        other = np.flatnonzero((part.columns["ph"] == METADATA) & (value >= 0) & (of_hash >= 0))
        found.append(np.stack([of_hash[other], value[other]]))
    return np.asarray(np.concatenate(found, axis=1), np.int64)


def _resolved(part: Lines, name: str, hashed: str, kind: str) -> Links:
    """Return names where they stand in the event, else those that lines define for hashes; −1 where there is none."""
    # Of several definitions the first counts.
    hashes, names = _definitions(part, kind)[:, ::-1]
    by_hash = np.full(len(part.names) + 1, -1, np.int32)
    by_hash[hashes] = names
    given = part.columns[name]
    return np.where(given >= 0, given, by_hash[part.columns[hashed]]).astype(np.int32)
