"""What is compared of each layer and direction: how it is taken from a run, how much it varies, what is good."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..collection.rows import LayerRow
from .testing import RunSpread

COUNTED: Final = RunSpread(deviation=0.012, least=0.05)
"""Of what a program does: runs of one program and input agree in it."""
TIMED: Final = RunSpread(deviation=0.35, least=0.10)
"""Of how long it takes: on a shared file system a run easily takes 1.4 times as long as the one before."""
FLUSHED: Final = RunSpread(deviation=0.9, least=0.10)
"""Of how long flushes take: they wait for all that a device has to write, of whomever; equal runs beside load differed
by a factor of 12."""
RECURRING: Final = RunSpread(deviation=0.1, least=0.05)
"""Of periods and whole durations: most of them is computation."""
JUDGED: Final = RunSpread(deviation=1.0, least=0.10)
"""Of how many phases are seen: that a burst is one of them, or each of its pieces, hangs on short pauses."""


@dataclass(frozen=True)
class Quantity:
    """A quantity of a layer in one direction.

    Attributes
    ----------
    id : str
        As in ``diff --json``.
    value : callable
        Takes it from a row; None where the run does not have it.
    spread : RunSpread
    good : int
        1 where more is better, −1 where less is, 0 where neither.
    share : bool
        Whether it is a part of one, and compared by difference instead of ratio.
    told : bool
        Whether it is missing only where the recorder does not tell it.
    """

    id: str
    value: Callable[[LayerRow], float | None]
    spread: RunSpread
    good: int = 0
    share: bool = False
    told: bool = False


def _share(part: int | None, row: LayerRow) -> float | None:
    return None if part is None or not row.operations else part / row.operations


QUANTITIES: Final = (
    Quantity("collective", lambda row: _share(row.collective_operations, row), COUNTED, share=True, told=True),
    Quantity("non-blocking", lambda row: _share(row.non_blocking_operations, row), COUNTED, share=True),
    Quantity("ranks", lambda row: row.ranks, COUNTED, told=True),
    Quantity("bytes", lambda row: row.bytes if row.direction in ("read", "write") else None, COUNTED),
    Quantity("request-size", lambda row: row.request_p50, COUNTED, told=True),
    Quantity("operations", lambda row: row.operations, COUNTED, told=True),
    Quantity("seeks", lambda row: row.seeks, COUNTED),
    Quantity("files", lambda row: row.files, COUNTED, told=True),
    Quantity("imbalance", lambda row: row.imbalance, TIMED, good=-1),
    # What a library compresses or keeps needs no more below than this.
    Quantity("amplification", lambda row: row.amplification and max(row.amplification, 1.0), COUNTED, good=-1),
    Quantity("period", lambda row: row.period_s, RECURRING),
    Quantity("time", lambda row: row.busy_s, TIMED, good=-1, told=True),
    Quantity("slowest-rank", lambda row: row.slowest_s, TIMED, good=-1),
    Quantity("bandwidth", lambda row: row.bandwidth, TIMED, good=1),
    Quantity("phases", lambda row: row.phases, JUDGED),
)
"""In the order in which one is the cause of the next: how a layer is called, how much it moves, how long that takes."""
