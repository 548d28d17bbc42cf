"""The tree of call paths, and keys that it gives: the function that did I/O, the program's own above it, the path."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ....model.arrays import Ints, Links, nearest_marked
from ....model.stream.calls import OF_THE_PROGRAM, Regions

FUNCTION: Final = "function"
CALLER: Final = "caller"
CALLPATH: Final = "callpath"
CALL_KEYS: Final = (FUNCTION, CALLER, CALLPATH)
"""Keys that are no part of the definitions of files and processes."""
NamedRows = tuple[tuple[str, ...], Links]
"""Names, and the row of each operation in them, −1 for none."""
_INNERMOST: Final = 24
"""Functions of a path that its name has; a path can be as long as a trace."""


@dataclass(frozen=True, eq=False)
class PathTree:
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
