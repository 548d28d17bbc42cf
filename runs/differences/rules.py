"""Rules that let a comparison fail: for a build that is to stop where a change made I/O worse."""

import re
from dataclasses import dataclass
from typing import Final

from ...model.errors import SelectionError
from .difference import Difference
from .quantities import QUANTITIES

_WORDS: Final = ("worse", "changed", "finding")
_IDS: Final = (*(one.id for one in QUANTITIES), "duration", "ranks-of-run", "nodes-of-run")
_RATIO: Final = re.compile(
    r"(?:(?P<layer>[^:<>]+):)?(?:(?P<direction>read|write|flush|metadata):)?(?P<id>[a-z-]+)(?P<sign>[<>])(?P<limit>[0-9.]{1,12})"
)


@dataclass(frozen=True)
class FailRule:
    """A rule of ``--fail-on``.

    ``worse``: a change for the worse matters. ``changed``: any change matters. ``finding``: one came that matters.
    ``[LAYER:][DIRECTION:]QUANTITY>RATIO`` or ``<``: a quantity after over before is beyond a limit, with its whole
    interval where there is one.

    Raises SelectionError if the text is no rule.
    """

    text: str

    def __post_init__(self) -> None:
        found = _RATIO.fullmatch(self.text)
        if self.text in _WORDS:
            return
        if found is None or found["id"] not in _IDS or _number(found["limit"]) is None:
            raise SelectionError(
                f"no rule {self.text!r}: give worse, changed, finding, or such as time>1.2 or "
                f"POSIX:write:bytes>1.05, of {', '.join(_IDS)}"
            )

    def broken_by(self, difference: Difference) -> tuple[str, ...]:
        """Return the sentences of the changes that break the rule."""
        found = _RATIO.fullmatch(self.text)
        if found is None:
            return tuple(
                change.text
                for change in difference.mattering
                if self.text == "changed"
                or (self.text == "worse" and change.good < 0)
                or (self.text == "finding" and change.id.startswith("finding") and change.good < 0)
            )
        limit = _number(found["limit"]) or 0.0
        broken = []
        for change in difference.changes:
            if change.id != found["id"] or found["layer"] not in (None, change.layer):
                continue
            if found["direction"] not in (None, change.direction) or change.ratio is None:
                continue
            low, high = change.interval or (change.ratio, change.ratio)
            if low > limit if found["sign"] == ">" else high < limit:
                broken.append(change.text)
        return tuple(broken)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
