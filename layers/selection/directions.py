"""One layer of a trace: the operations of one paradigm, with their signals and statistics."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    pass

DIRECTIONS: Final = ("read", "write", "total")

TRAFFIC: Final = ("all", "own", "inherited")

QUANTITIES: Final = ("bandwidth", "operations", "metadata", "in-flight")
"""What a signal of a layer can measure; metadata events have neither direction nor traffic."""
