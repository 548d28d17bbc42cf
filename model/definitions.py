"""What an archive defines: clock, system tree, processes, threads, paradigms, files and handles, as columns."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .arrays import Codes, Frozen, Ints, Links, Mask, Octets, Unsigned
from .codes import COMM_SELF, PROCESS
from .recording import OTF2, Recording


@dataclass(frozen=True)
class Clock:
    """The trace's clock (``ClockProperties``).

    Attributes
    ----------
    start : int
        Time stamp of the trace's start in ticks; all times elsewhere are relative to it.
    length : int
        Ticks from start to end.
    realtime_ns : int or None
        Start in nanoseconds since 1970-01-01 UTC, where the trace knows it.
    """

    ticks_per_second: int
    start: int
    length: int
    realtime_ns: int | None

    @property
    def duration(self) -> float:
        """Length of the trace in seconds."""
        return self.length / self.ticks_per_second


class SystemTree(Frozen):
    """System tree nodes (machine, racks, compute nodes), columns of shape (n,).

    `parent` holds rows of this table, −1 at the root.
    """

    id: Codes
    name: tuple[str, ...]
    class_name: tuple[str, ...]
    parent: Links


class LocationGroups(Frozen):
    """Location groups (processes, accelerators), columns of shape (n,).

    Attributes
    ----------
    id : uint32
    kind : uint8
        ``OTF2_LocationGroupType``: 1 is a process (``PROCESS``).
    node : int32
        Row in ``Definitions.system_tree``, −1 where unknown.
    rank : int32
        MPI rank from the group of MPI locations; where the trace has none, the row among the processes; −1 for a
        group that is no process.
    """

    id: Codes
    name: tuple[str, ...]
    kind: Octets
    node: Links
    rank: Links


class Locations(Frozen):
    """Locations (threads), columns of shape (n,).

    Attributes
    ----------
    id : uint64
        Names the ``.evt`` and ``.def`` files of the location.
    kind : uint8
        ``OTF2_LocationType``: 1 is a CPU thread.
    events : uint64
        Number of events that the definitions promise.
    group : int32
        Row in ``Definitions.groups``, −1 where unknown.
    """

    id: Unsigned
    name: tuple[str, ...]
    kind: Octets
    events: Unsigned
    group: Links

    @cached_property
    def first(self) -> Ints:
        """The first location of each process, int64 (processes,)."""
        processes, first = np.unique(self.group, return_index=True)
        return np.asarray(first[processes >= 0], np.int64)


@dataclass(frozen=True)
class Paradigm:
    """An I/O paradigm (``IoParadigm``); `identification` is its stable name: ``POSIX``, ``MPI-IO``, ``netCDF``.

    `parallel` tells the class (serial or parallel), `os` the flag that marks the operating system's own interface;
    `properties` are (property, value) pairs such as ("VERSION", "4.9.0").
    """

    id: int
    identification: str
    name: str
    parallel: bool
    os: bool
    properties: tuple[tuple[str, str], ...]


class Files(Frozen):
    """Files and directories (``IoRegularFile``, ``IoDirectory``), columns of shape (n,).

    Attributes
    ----------
    id : uint32
    scope : int32
        Row in ``Definitions.system_tree`` of the node where the path holds; −1 where it holds everywhere.
    properties : tuple of dict
        Such as ``{"Mount Point": "/scratch", "File system": "lustre"}``; empty where none.
    """

    id: Codes
    name: tuple[str, ...]
    directory: Mask
    scope: Links
    properties: tuple[dict[str, str], ...]


class Handles(Frozen):
    """I/O handles (``IoHandle``), columns of shape (n,).

    Attributes
    ----------
    id : uint32
    file : int32
        Row in ``Definitions.files``, −1 for a handle without a file.
    paradigm : int32
        Row in ``Definitions.paradigms``, −1 where undefined.
    flags : uint32
        ``OTF2_IoHandleFlag``: 1 pre-created, 2 proxy for all handles of the paradigm.
    communicator : uint32
        Global id of the communicator, ``UNDEFINED_UINT32`` where none.
    parent : int32
        Row in this table, −1 at a root.
    precreated : bool
        True where the trace gives the handle a state from the start.
    precreated_mode : uint8
        Access mode of that state, ``UNDEFINED_UINT8`` where none.
    precreated_status : uint32
        Status flags of that state, 0 where none.
    """

    id: Codes
    name: tuple[str, ...]
    file: Links
    paradigm: Links
    flags: Codes
    communicator: Codes
    parent: Links
    precreated: Mask
    precreated_mode: Octets
    precreated_status: Codes


class Group(Frozen):
    """A group of locations, ranks or regions (``Group``); `members` is uint64 (m,)."""

    id: int
    name: str
    kind: int
    paradigm: int
    members: Unsigned


@dataclass(frozen=True)
class Communicator:
    """A communicator (``Comm`` or ``InterComm``): `group` and `parent` are global ids, None where undefined."""

    id: int
    name: str
    group: int | None
    parent: int | None


class Definitions(Frozen):
    """All definitions of an archive that I/O analysis needs; `recording` says what its recorder does not tell."""

    clock: Clock
    system_tree: SystemTree
    groups: LocationGroups
    locations: Locations
    paradigms: tuple[Paradigm, ...]
    files: Files
    handles: Handles
    location_sets: tuple[Group, ...] = ()
    communicators: tuple[Communicator, ...] = ()
    attributes: dict[int, str] = field(default_factory=dict)
    recording: Recording = OTF2

    @property
    def process_count(self) -> int:
        """Number of processes."""
        return int(np.count_nonzero(self.groups.kind == PROCESS))

    @property
    def node_count(self) -> int:
        """Number of system tree nodes that processes ran on."""
        nodes = self.groups.node[self.groups.kind == PROCESS]
        return len(np.unique(nodes[nodes >= 0]))


def self_communicators(definitions: Definitions) -> Ints:
    """Return the ids of communicators of one process each."""
    kinds = {group.id: group.kind for group in definitions.location_sets}
    of_self = [
        one.id for one in definitions.communicators if one.group is not None and kinds.get(one.group) == COMM_SELF
    ]
    return np.array(of_self, np.int64)
