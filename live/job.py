"""A running job: records in, answers for each layer and direction out."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..analysis.registry import DEFAULT_METHOD
from ..model.errors import SelectionError, TraceError
from ..model.quantities import counted
from .alarms import LIMITS
from .answer import Answer
from .budget import SHARE, Credit
from .records.intake import Intake, Key, Spans
from .watcher import Watcher

if TYPE_CHECKING:
    from ..analysis.known_signature import KnownSignature

TOTAL: Final = "total"
"""The direction of reads and writes together."""


class LiveJob:
    """All layers and directions of a running job.

    Attributes
    ----------
    intake : Intake
        Records of its sources.
    name : str or None
    """

    def __init__(
        self,
        layers: frozenset[str] = frozenset(),
        share: float | None = SHARE,
        method: str = DEFAULT_METHOD,
        direction: str | None = None,
        limits: Mapping[str, float] = LIMITS,
        name: str | None = None,
        known: "KnownSignature | None" = None,
    ) -> None:
        """Follow the layers of these names, or all, in one direction, in ``total`` of both, or in each.

        `share` is that of a core which following it may take, None for as much as it needs; `method` and `limits` are
        of a `Watcher`. A `name` tells it from others that are followed. A `known` signature
        foretells bursts of its layer and direction, from the first on.
        """
        self.name = name
        half = None if share is None else share / 2
        self._looks, self._answers = Credit(half), Credit(half)
        self._method, self._limits, self._known = method, limits, known
        self.intake = Intake()
        self._layers = {name.lower(): name for name in layers}
        self._direction = direction
        self._watchers: dict[Key, Watcher] = {}

    def take(self) -> None:
        """Take in what was read of the sources."""
        if self.intake.jumped:
            self._watchers, self.intake.jumped = {}, False
        for key, columns in self.intake.take().items():
            self.add(key, columns, self.intake.grain.get(key, 0.0))

    def add(self, key: Key, columns: Spans, grain: float = 0.0) -> None:
        """Take in records of one layer and direction, whose times are known to `grain` s."""
        if self._layers and key.layer.lower() not in self._layers:
            return
        if self._direction == TOTAL:
            key = Key(key.layer, TOTAL)
        elif self._direction not in (None, key.direction):
            return
        watcher = self._watchers.get(key)
        if watcher is None:
            mine = self._known if self._known is not None and self._known.is_of(key.layer, key.direction) else None
            watcher = Watcher(key, self._looks, self._method, self._limits, self._answers, mine)
            self._watchers[key] = watcher
        watcher.signal.grain = grain
        watcher.add(columns)

    @property
    def moved(self) -> bool:
        """Whether anything has moved in what is followed."""
        return any(watcher.signal.bytes for watcher in self._watchers.values())

    def check(self) -> None:
        """Raise an error where the input has ended, and had no record, or none of the layers asked for."""
        known = sorted({key.layer for key in self.intake.keys})
        if not known and self.intake.counts.malformed:
            lines = counted(self.intake.counts.malformed, "line")
            raise TraceError(
                f"{lines} and no record among them; see the guide's page on running jobs for their format, and give "
                "what a recorder wrote of a job that has ended to --replay"
            )
        missing = sorted(set(self._layers) - {name.lower() for name in known})
        if known and missing:
            name = self._layers[missing[0]]
            raise SelectionError(f"no layer {name!r} in the input; there were {', '.join(known)}")

    def answers(
        self, begin: float, now: float, last: bool = False, ended: bool = False, reached: float = -math.inf
    ) -> list[Answer]:
        """Say what holds in each layer and direction; see `Watcher.answer`."""
        self._answers.grant(now, self._looks.grant(now))
        moving = [watcher for watcher in self._watchers.values() if watcher.signal.bytes]
        found = {one: one.answer(begin, now, last, ended, reached) for one in sorted(moving, key=lambda one: one.turn)}
        return [found[one] for one in moving]

    @property
    def counted(self) -> float:
        """Processor time in s that was counted since it was settled."""
        return self._looks.spent + self._answers.spent

    def settle(self, factor: float) -> None:
        """Leave less for what comes by so many times what was counted."""
        self._looks.settle(factor)
        self._answers.settle(factor)
