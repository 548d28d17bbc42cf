"""Which layer, and which group, each function of a trace belongs to."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ....model.arrays import Links, Mask
from ....model.stream.calls import OF_MPI, OF_THE_PROGRAM, PARADIGMS, Regions

NO_EVENT: Final = 0
"""In place of a record's kind where a call has no I/O event of its own."""
TRANSFER: Final = 128
"""In place of a record's kind, from here on, where a call transfers."""
PROGRAM: Final = "program"
"""The group of the program's own functions."""
SET_ASIDE: Final = "set aside"
"""The group of calls on files that do not count."""
_MPI_IO: Final = "MPI-IO"
_OTHER: Final = "other I/O"


@dataclass(frozen=True, eq=False)
class FunctionGroups:
    """Regions of a trace beside what they belong to; columns of shape (n,).

    Attributes
    ----------
    regions : Regions
    does_io : bool
    layer : int32
        Layer of a function that does I/O, counted from the highest, −1 for all others and where it is not known.
    group : int32
        Row in `names`.
    names : tuple of str
        Groups that time is spent in: the layers, highest first, then ``MPI`` and other libraries, `PROGRAM` and
        `SET_ASIDE`.
    """

    regions: Regions
    does_io: Mask
    layer: Links
    group: Links
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
    return FunctionGroups(regions, does_io, layer, group, (*names, SET_ASIDE))


def _plain(name: str) -> str:
    return name.upper().removesuffix("_IO").replace("-", "").replace("_", "")
