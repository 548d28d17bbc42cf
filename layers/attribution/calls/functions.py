"""Functions of a trace: the layer and group that each belongs to, the tree of call paths and the keys that it gives."""

import re
from typing import Final

import numpy as np

from ....model.arrays import Frozen, Ints, Links, Mask, nearest_marked
from ....model.stream.calls import OF_MPI, OF_THE_PROGRAM, PARADIGMS, Regions

NO_EVENT: Final = 0
"""In place of a record's kind where a call has no I/O event of its own."""
TRANSFER: Final = 128
"""In place of a record's kind, from here on, where a call transfers."""
COMPLETION: Final = 255
"""In place of a record's kind where an operation is completed."""
PROGRAM: Final = "program"
"""The group of the program's own functions."""
INSIDE: Final = "inside I/O"
"""The group of what calls of I/O call that is no I/O by itself, such as communication in a library."""
WAITING: Final = "waiting for non-blocking I/O"
"""The group of the calls of MPI in which that is completed."""
SET_ASIDE: Final = "set aside"
"""The group of calls on files that do not count."""
WAITS_FOR_ALL: Final = re.compile(
    r"MPI_(Init|Finalize|Barrier|Allreduce|Allgather|Alltoall|Reduce_scatter|Win_(create|allocate|free|fence)|"
    r"Comm_(dup|split|create|spawn|accept|connect|disconnect)|Session_finalize|Intercomm_(create|merge)|"
    r"(Cart|Graph|Dist_graph)_(create|sub)|"
    r"File_(open|close|preallocate|set_(size|view|atomicity)|seek_shared|sync|(read|write)_((at_)?all|ordered)))"
)
"""Functions of MPI that no rank of the communicator leaves before all have entered them, or in which that is usual."""
WAITS_FOR_SOME: Final = re.compile(r"MPI_(Bcast|Scatter|Gather|Reduce(?!_local)|Scan|Exscan|Neighbor_)")
"""Functions of MPI that ranks of the communicator make together, and in which some wait for the root or for others."""
MESSAGES: Final = re.compile(r"MPI_(([BRS]s|S)end|Recv|Sendrecv|M?[Pp]robe|Mrecv|Wait)")
"""Functions of MPI in which one rank waits for another that is to send or to receive, or for a request of its own."""
ASKS_FOR_IO: Final = re.compile("MPI_File_i(read|write)")
"""Functions of MPI that make a request of I/O, which is waited for as others are."""
POLLS: Final = re.compile("MPI_(Test|Iprobe|Improbe)")
"""Functions of MPI that wait for nobody and bring nobody anything."""
LEAVE_EVENTS: Final = ("ISOC", "POSIX")
"""Layers whose functions leave an event wherever they succeed on what is recorded."""
_MPI_IO: Final = "MPI-IO"
_OTHER: Final = "other I/O"


class FunctionGroups(Frozen):
    """Regions of a trace beside what they belong to; columns of shape (n,).

    Attributes
    ----------
    regions : Regions
    does_io : bool
    layer : int32
        Layer of a function that does I/O, counted from the highest, −1 for all others and where it is not known.
    group : int32
        Row in `names`.
    completes : int32
        Layer whose non-blocking operations a function completes that does no I/O, such as MPI_Wait; −1 for none.
    names : tuple of str
        Groups that time is spent in: the layers, highest first, then ``MPI`` and other libraries, `PROGRAM`, `WAITING`,
        `INSIDE` and `SET_ASIDE`.
    """

    regions: Regions
    does_io: Mask
    layer: Links
    group: Links
    completes: Links
    names: tuple[str, ...]


def function_groups(regions: Regions, order: tuple[str, ...]) -> FunctionGroups:
    """Tell which layer and group each region belongs to.

    A library's functions bear its name in place of a source file, such as ``POSIX_IO``, ``NETCDF``; those of MPI that
    do I/O are of the layer *MPI-IO*.

    Parameters
    ----------
    order : tuple of str
        Layers, highest first.
    """
    layers = {_plain(name): row for row, name in enumerate(order)}
    does_io = regions.does_io
    layer = np.full(len(regions), -1, np.int32)
    for row in np.flatnonzero(does_io).tolist():
        name = _MPI_IO if regions.paradigm[row] == OF_MPI else regions.file[row]
        layer[row] = layers.get(_plain(name), -1)
    names = [*order]
    places = {name: row for row, name in enumerate(names)}
    group = layer.copy()
    for row in np.flatnonzero(layer < 0).tolist():
        paradigm = int(regions.paradigm[row])
        name = PARADIGMS.get(paradigm, "other")
        if does_io[row]:
            name = _OTHER
        elif paradigm in OF_THE_PROGRAM:
            name = PROGRAM
        if name not in places:
            places[name] = len(names)
            names.append(name)
        group[row] = places[name]
    of_mpi = (regions.paradigm == OF_MPI) & ~does_io
    completes = np.where(of_mpi, np.int32(layers.get(_plain(_MPI_IO), -1)), np.int32(-1))
    return FunctionGroups(regions, does_io, layer, group, completes, (*names, WAITING, INSIDE, SET_ASIDE))


def _plain(name: str) -> str:
    return name.upper().removesuffix("_IO").replace("-", "").replace("_", "")


FUNCTION: Final = "function"
CALLER: Final = "caller"
CALLPATH: Final = "callpath"
CALL_KEYS: Final = (FUNCTION, CALLER, CALLPATH)
"""Keys that are no part of the definitions of files and processes."""
NamedRows = tuple[tuple[str, ...], Links]
"""Names, and the row of each operation in them, −1 for none."""
_INNERMOST: Final = 24
"""Functions of a path that its name has; a path can be as long as a trace."""


class PathTree(Frozen):
    """A tree of call paths.

    Attributes
    ----------
    regions : Regions
    parent, region : int32 (n,)
        Row of the path above, each behind it, −1 at a root; row in `regions` of the function last called.
    """

    regions: Regions
    parent: Links
    region: Links

    def keys(self, by: str) -> Links:
        """Return the key of each call path and, behind them, of none; int32 (n+1,), −1 where there is no key.

        Parameters
        ----------
        by : str
            ``function``: the innermost function that does I/O, and ``caller``: the innermost of the program's own
            functions, a row of `regions`; ``callpath``: the row of the path.
        """
        if by == CALLPATH:
            return np.append(np.arange(len(self.parent), dtype=np.int32), np.int32(-1))
        wanted = self.regions.does_io
        if by == CALLER:
            wanted = ~wanted & np.isin(self.regions.paradigm, OF_THE_PROGRAM)
        does = wanted[self.region]
        nearest = np.where(does, np.arange(len(does)), nearest_marked(self.parent, does))
        return np.append(np.where(nearest >= 0, self.region[nearest], -1), -1).astype(np.int32)

    def named(self, by: str, path: Links) -> NamedRows:
        """Return the names of the keys of some operations, whose paths are known, and the row of each, −1 for none."""
        key = self.keys(by)[path]
        used = np.unique(key[key >= 0])
        rows = np.where(key >= 0, np.searchsorted(used, key), -1).astype(np.int32)
        return tuple(self.texts(by, used.astype(np.int64))), rows

    def texts(self, by: str, rows: Ints) -> list[str]:
        """Return the names of keys: a function's, with its source file and line where it is a caller, or a path's."""
        if by == CALLPATH:
            return [self._path_text(row) for row in rows.tolist()]
        return [caller_text(self.regions, row) if by == CALLER else self.regions.name[row] for row in rows.tolist()]

    def _path_text(self, row: int) -> str:
        """Return the functions of a path, the outermost first; of a long one its innermost functions only."""
        names: list[str] = []
        while row >= 0 and len(names) < _INNERMOST:
            names.append(self.regions.name[self.region[row]])
            row = int(self.parent[row])
        return " > ".join(reversed([*names, "…"] if row >= 0 else names))


def caller_text(regions: Regions, row: int) -> str:
    """Return the name of a function with its source file and line, as far as the trace tells them."""
    name, file, line = regions.name[row], regions.file[row], int(regions.line[row])
    if not file:
        return name
    return f"{name} ({file}:{line})" if line else f"{name} ({file})"
