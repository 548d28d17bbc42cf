"""Rules that let a comparison fail: for a build that is to stop where a change made I/O worse."""

import math
import re
from dataclasses import dataclass
from typing import Final

from ...model.errors import SelectionError
from ..collection.rows import Run
from .changes import Change
from .difference import Difference
from .quantities import QUANTITIES

_WORDS: Final = ("worse", "changed", "finding")
_OF_RUNS: Final = ("duration", "ranks-of-run", "nodes-of-run")
_IDS: Final = (*(one.id for one in QUANTITIES), *_OF_RUNS)
_SHARES: Final = frozenset(one.id for one in QUANTITIES if one.share)
_KNOWN_OF: Final = {"flush": ("operations", "time"), "metadata": ("operations",)}
"""All that is known of a direction that moves no bytes."""
_COUNTED: Final = ("bytes", "operations", "time", "ranks", "files")
"""What is 0 where a layer does nothing."""
_RATIO: Final = re.compile(
    r"(?:(?P<layer>[^:<>]+):)?(?:(?P<direction>read|write|flush|metadata):)?(?P<id>[a-z-]+)(?P<sign>[<>])(?P<limit>[0-9.]{1,12})"
)


@dataclass(frozen=True)
class FailRule:
    """A rule of ``--fail-on``.

    ``worse``: a change for the worse matters. ``changed``: any change matters. ``finding``: one came that matters.
    ``[LAYER:][DIRECTION:]QUANTITY>RATIO`` or ``<``: a quantity after over before is beyond a limit, with its whole
    interval where there is one. What came is infinitely more, what went is 0 times, where that matters.

    Raises SelectionError if the text is no rule.
    """

    text: str

    def __post_init__(self) -> None:
        found = _RATIO.fullmatch(self.text)
        if self.text in _WORDS:
            return
        if found is None or found["id"] not in _IDS or _number(found["limit"]) is None:
            raise SelectionError(
                f"no rule {self.text!r}: give worse, changed, finding, or [LAYER:][read|write|flush|metadata:]QUANTITY "
                "with > or < and a number, such as time>1.2 or POSIX:write:bytes>1.05; quantities are "
                f"{', '.join(_IDS)}"
            )
        if found["id"] in _OF_RUNS and (found["layer"] or found["direction"]):
            raise SelectionError(
                f"no rule {self.text!r}: {found['id']} is of the whole run; leave out what is before it"
            )
        known = _KNOWN_OF.get(found["direction"] or "")
        if known and found["id"] not in known:
            raise SelectionError(
                f"no rule {self.text!r}: of {found['direction']} operations only {' and '.join(known)} is known"
            )

    def check(self, difference: Difference) -> str | None:
        """Return why nothing can break the rule: neither side has such operations; None where some can.

        Raises SelectionError if the rule names a layer that is not recorded.
        """
        found = _RATIO.fullmatch(self.text)
        if found is None or found["id"] in _OF_RUNS:
            return None
        layer, direction = found["layer"], found["direction"]
        sides = [_layers(difference.before), _layers(difference.after)]
        if layer is not None and layer not in (*sides[0], *sides[1]):
            known = ", ".join(dict.fromkeys((*difference.layers, *sides[0], *sides[1])))
            raise SelectionError(f"rule {self.text!r}: no layer {layer!r} is recorded; there are {known or 'none'}")
        for letter, runs, layers in zip("AB", (difference.before, difference.after), sides, strict=True):
            if layer is not None and layer not in layers and all(run.job.layers_recorded for run in runs):
                raise SelectionError(f"rule {self.text!r}: {layer} is not recorded in {letter}")
        rows = [row for run in (*difference.before, *difference.after) for row in run.layers]
        if any(layer in (None, row.layer) and direction in (None, row.direction) for row in rows):
            return None
        what = " ".join(one for one in (layer, direction, "operations") if one)
        return f"rule {self.text!r}: neither A nor B has {what}"

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
            if found["layer"] not in (None, change.layer) or found["direction"] not in (None, change.direction):
                continue
            known = _KNOWN_OF.get(change.direction or "", _COUNTED)
            if change.id != found["id"] and not (change.id == "layer" and found["id"] in known):
                continue
            low, high = _interval(change)
            if low > limit if found["sign"] == ">" else high < limit:
                broken.append(change.text)
        return tuple(broken)


def _interval(change: Change) -> tuple[float, float]:
    """Return from where to where after over before lies; anything where nobody knows."""
    if change.id not in _SHARES and change.ratio is not None:
        return change.interval or (change.ratio, change.ratio)
    before, after = (value if isinstance(value, float) else 0.0 for value in (change.before, change.after))
    if not change.matters or change.id == "period":
        return 0.0, math.inf
    ratio = after / before if before else math.inf
    return ratio, ratio


def _layers(runs: tuple[Run, ...]) -> tuple[str, ...]:
    """Return the layers that are recorded in runs, whether they do anything or not."""
    return tuple(dict.fromkeys(layer for run in runs for layer in (*run.job.layers, *run.job.layers_recorded)))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
