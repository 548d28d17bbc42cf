"""Counters: what a recorder summed up of files and ranks, and what it adds up to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .arrays import Floats, Ints, Links, Mask
from .document import Document, Record

_ADDED: Final[tuple[tuple[str, str], ...]] = (
    (r"_start_timestamp$", "first"),
    (r"_end_timestamp$|^max_(byte|read_time$|write_time$)|_alignment$", "largest"),
    (r"rank|access|stride|_size(_d\d)?$|_d\d$|^mode$|^n(dims|points)$|^dataspace_|_var$|chunk|oty|^use_", ""),
)
"""How a counter adds up over files and ranks, by its name; nothing where it does not, and else it is a sum."""


@dataclass(frozen=True, eq=False)
class Counters:
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

    def has(self, name: str, rows: Mask) -> bool:
        """Tell whether a counter is recorded in any of some rows."""
        column = self.counts.get(name, self.seconds.get(name))
        return column is not None and bool((column[rows] >= 0).any())

    def count(self, *names: str) -> Ints:
        """Return the sum of some counters, int64 (n,), 0 where none is recorded."""
        found = np.zeros(len(self.module), np.int64)
        for name in names:
            found += np.maximum(self.counts.get(name, 0), 0)
        return found

    def time(self, *names: str) -> Floats:
        """Return the sum of some times in s, float64 (n,), 0 where none is recorded."""
        found = np.zeros(len(self.module))
        for name in names:
            found += np.maximum(self.seconds.get(name, 0.0), 0.0)
        return found

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
    summed_s: float | None = None


def _sum(values: npt.NDArray[np.int64]) -> int | None:
    known = values[values >= 0]
    return int(known.sum()) if len(known) else None
