"""Layers beside each other where nobody knows what serves what: recorded as bytes by intervals, without handles."""

from collections.abc import Iterator
from itertools import combinations
from typing import Annotated, ClassVar, Final

import numpy as np

from ...layers.selection.directions import Direction
from ...layers.summary.statistics import LayerStatistics, counted_statistics
from ...layers.trace import Trace
from ...model.arrays import Floats
from ...model.codes import BLOCK_IO, KNOWN_STACK
from ...model.document import Document, Record

_UNKNOWN: Final = (
    "lower_bytes", "attributed_bytes", "inferred_bytes", "hidden_bytes", "amplification", "attributed_amplification",
    "fan_out", "movers_beneath_call", "writers_lower", "contained_s",
)  # fmt: skip
"""Keys of a pair of layers that only operations and handles tell."""


class SideBySide(Record):
    """Two layers that both moved bytes in a direction.

    Attributes
    ----------
    upper, lower, direction : str
    adjacent : bool
        Whether no layer stands in between.
    upper_bytes, lower_layer_bytes : int or float
        All that each of them moved, whoever caused it.
    upper_ranks, lower_ranks : int or None
        Ranks that moved it; None where these are not recorded.
    upper_operations, lower_operations : int or None
        Their transfers, where these were counted.
    meanwhile_bytes : int or None
        What a block device moved while an operation of the upper layer was under way. The rest is written back or read
        ahead, or somebody else's: requests of a device bear neither process nor file. None of other layers.
    counted : bool
        Whether counters alone tell of one of them, beside layers whose operations are known.
    """

    ENTRIES: ClassVar = (
        "upper", "lower", "adjacent", "direction", "upper_bytes", "upper_ranks", "upper_operations", "lower_operations",
        "lower_layer_bytes", "lower_ranks", "ratio", "meanwhile_bytes",
    )  # fmt: skip
    KEYS: ClassVar = {
        **{"upper_ranks": "writers_upper", "lower_ranks": "lower_layer_writers"},
        **{"ratio": "layer_ratio", "meanwhile_bytes": "lower_bytes_meanwhile"},
    }

    upper: str
    lower: str
    direction: Direction
    adjacent: bool
    upper_bytes: int | float
    lower_layer_bytes: int | float
    upper_ranks: int | None
    lower_ranks: int | None
    upper_operations: int | None = None
    lower_operations: int | None = None
    counted: bool = False
    meanwhile_bytes: int | None = None

    @property
    def ratio(self) -> float | None:
        """Bytes of the lower layer per byte of the upper one; what of them serves the upper one is not known."""
        return self.lower_layer_bytes / self.upper_bytes if self.upper_bytes else None

    def to_dict(self) -> Annotated[Document, dict.fromkeys(_UNKNOWN, type(None))]:
        """Return the entry of ``pairs`` in ``compare --json``: null for what descent or attribution would tell."""
        return {**super().to_dict(), **dict.fromkeys(_UNKNOWN)}


def side_by_side(trace: Trace, directions: tuple[Direction, ...]) -> Iterator[SideBySide]:
    """Yield each pair of layers that both moved bytes, the highest first.

    ISO C stands beside no other layer: no library writes through it, and what it hands down itself stays within the C
    library, where recorders of calls do not see it.
    """
    found = _statistics(trace, directions)
    for (place, upper), (other, lower) in combinations(enumerate(one for one in found if one != "ISOC"), 2):
        counted = not {upper, lower} <= {*trace.layers}
        for direction in directions:
            above, below = (found[one].get(direction) for one in (upper, lower))
            if above is None or below is None or not (above.bytes and below.bytes):
                continue
            ranks = _known(above, "ranks"), _known(below, "ranks")
            operations = _known(above, "operations"), _known(below, "operations")
            meanwhile = None if counted or lower != BLOCK_IO else _meanwhile(trace, upper, lower, direction)
            moved, adjacent = (above.bytes, below.bytes), other == place + 1
            yield SideBySide(upper, lower, direction, adjacent, *moved, *ranks, *operations, counted, meanwhile)


def _statistics(trace: Trace, directions: tuple[Direction, ...]) -> dict[str, dict[str, LayerStatistics]]:
    """Return what each layer does by direction, the highest first; of some counters alone tell."""
    found: dict[str, dict[str, LayerStatistics]] = {
        name: {one: layer.statistics(one) for one in directions} for name, layer in trace.layers.items()
    }
    for alone in (counted := counted_statistics(trace.scope, directions)):
        found.setdefault(alone.layer, {})[alone.direction] = alone
    # Recorders with counters know no other layers, but an archive may claim to be made of their log.
    place = {name: number for number, name in enumerate(KNOWN_STACK)}
    return dict(sorted(found.items(), key=lambda entry: place.get(entry[0], len(place)))) if counted else found


def _known(statistics: LayerStatistics, name: str) -> int | None:
    return None if name in statistics.unavailable else getattr(statistics, name)


def _meanwhile(trace: Trace, upper: str, lower: str, direction: Direction) -> int | None:
    """Return the bytes of a layer while operations of another were under way; None where these are not kept."""
    if trace.stream.in_memory is None:
        return None
    above = trace.layers[upper].in_flight(direction)
    moved: Floats = np.diff(trace.layers[lower].bandwidth(direction).volume_until(above.times))
    return round(float(moved[above.values > 0].sum()))
