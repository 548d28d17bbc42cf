"""Rules that let a comparison fail: for a build that is to stop where a change made I/O worse."""

import difflib
import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...model.errors import SelectionError
from ..collection.rows import LayerRow, Run
from .changes import Change
from .difference import Difference
from .quantities import QUANTITIES
from .recorded import NotRecorded

_WORDS: Final = ("worse", "changed", "finding")
_OF_RUNS: Final = ("duration", "ranks-of-run", "nodes-of-run", "failed-opens")
_OF_LOOPS: Final = ("iterations", "iteration-time", "iteration-interval")
_IDS: Final = (*(one.id for one in QUANTITIES), *_OF_LOOPS, *_OF_RUNS)
_SHARES: Final = frozenset(one.id for one in QUANTITIES if one.share)
_KNOWN_OF: Final = {"flush": ("operations", "time"), "metadata": ("operations",)}
"""All that is known of a direction that moves no bytes."""
_COUNTED: Final = ("bytes", "operations", "time", "ranks", "files")
"""What is 0 where a layer does nothing."""
_DIRECTIONS: Final = ("read", "write", "flush", "metadata")
_RATIO: Final = re.compile(r"(?P<before>[^<>]*)(?P<sign>[<>])(?P<limit>[^<>]*)")
_NUMBER: Final = re.compile(r"(?=.{1,12}$)([0-9]+\.?[0-9]*|\.[0-9]+)")
_HINT: Final = "such as time>1.2, write:bytes>1.05 or POSIX:write:bandwidth<0.9"


@dataclass(frozen=True)
class _Ratio:
    """A rule on the ratio of after over before."""

    layer: str | None
    direction: str | None
    id: str
    more: bool
    limit: float

    @property
    def operations(self) -> str:
        """The operations that it is about."""
        return " ".join([*(one for one in (self.layer, self.direction) if one), "operations"])

    def is_about(self, one: Change | LayerRow | NotRecorded) -> bool:
        """Tell whether something is of the layer and direction that are named, if any are."""
        return self.layer in (None, one.layer) and self.direction in (None, one.direction)

    def rows(self, runs: Sequence[Run]) -> list[LayerRow]:
        """Return what it is about of some runs."""
        return [row for run in runs for row in run.layers if self.is_about(row)]

    def having(self, rows: Sequence[LayerRow]) -> set[tuple[str, str]]:
        """Return the layers and directions of those rows that have the quantity."""
        value = next((one.value for one in QUANTITIES if one.id == self.id), lambda _: None)
        return {(row.layer, row.direction) for row in rows if value(row) is not None}

    def broken_by(self, change: Change) -> bool:
        """Tell whether a change is beyond the limit."""
        if not self.is_about(change) or (change.id != self.id and not self.came_or_went(change)):
            return False
        low, high = _interval(change)
        return low > self.limit if self.more else high < self.limit

    def decides_on(self, change: Change) -> bool:
        """Tell whether a change of what it is about is one that both sides can be compared by."""
        if self.id in _OF_LOOPS:
            return change.id == ("iteration-time" if self.id == "iterations" else self.id)
        return self.came_or_went(change)

    def came_or_went(self, change: Change) -> bool:
        """Tell whether a change is a layer that one side has not, and the quantity 0 where a layer does nothing."""
        return change.id == "layer" and self.id in _KNOWN_OF.get(change.direction or "", _COUNTED)


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
        ratio = self._ratio
        if ratio is None:
            return
        if ratio.id in _OF_RUNS and (ratio.layer or ratio.direction):
            raise self._wrong(f"{ratio.id} is of the whole run; leave out what is before it")
        if ratio.id in _OF_LOOPS and ratio.direction:
            raise self._wrong(f"{ratio.id} is of all directions together; leave {ratio.direction} out")
        known = _KNOWN_OF.get(ratio.direction or "")
        if known and ratio.id not in known:
            raise self._wrong(f"of {ratio.direction} operations only {' and '.join(known)} is known")
        if ratio.limit < 1 if ratio.more else ratio.limit > 1:
            sign, least = (">", "at least") if ratio.more else ("<", "at most")
            raise self._wrong(
                f"the number is after over before, 1 where nothing changes, so behind {sign} {least} 1; {_HINT}"
            )

    @functools.cached_property
    def _ratio(self) -> _Ratio | None:
        """The parts of the rule; None of one that is a word."""
        if self.text in _WORDS:
            return None
        found = _RATIO.fullmatch(self.text)
        if found is None:
            kinds = f"{', '.join(_WORDS)}, or [LAYER:][{'|'.join(_DIRECTIONS)}:]QUANTITY with > or < and a number"
            raise self._wrong(f"{_nearest(self.text, _WORDS)}give {kinds}, {_HINT}")
        *names, quantity = (name.strip() for name in found["before"].split(":"))
        if quantity not in _IDS:
            raise self._wrong(f"no quantity {quantity!r}; {_nearest(quantity, _IDS)}there are {', '.join(_IDS)}")
        number = found["limit"].strip()
        if not _NUMBER.fullmatch(number):
            raise self._wrong(f"{number!r} is no number such as 1.05")
        direction = names.pop() if names and names[-1] in _DIRECTIONS else None
        if len(names) > 1:
            raise self._wrong(
                f"no direction {names[1]!r}; {_nearest(names[1], _DIRECTIONS)}there are {', '.join(_DIRECTIONS)}"
            )
        return _Ratio(names[0] if names else None, direction, quantity, found["sign"] == ">", float(number))

    def _wrong(self, reason: str) -> SelectionError:
        return SelectionError(f"no rule {self.text!r}: {reason}")

    def check(self, difference: Difference) -> str | None:
        """Return why nothing can break the rule: neither side has such operations; None where some can.

        Raises SelectionError if the rule names a layer that is not recorded, or a quantity that one side does not tell.
        """
        ratio = self._ratio
        if ratio is None:
            return None
        if ratio.id in _OF_RUNS:
            self._refuse([one for one in difference.not_recorded if one.id == ratio.id], ratio.id)
            return None
        if ratio.layer is not None:
            self._check_layer(ratio.layer, difference)
        return self._nothing_to_compare(ratio, difference)

    def _check_layer(self, layer: str, difference: Difference) -> None:
        """Raise SelectionError where a layer is not recorded on both sides."""
        sides = [_layers(difference.before), _layers(difference.after)]
        if layer not in (*sides[0], *sides[1]):
            known = tuple(dict.fromkeys((*difference.layers, *sides[0], *sides[1])))
            near = _nearest(layer, (*known, *_DIRECTIONS))
            raise self._wrong(f"no layer {layer!r} is recorded; {near}there are {', '.join(known) or 'none'}")
        for letter, runs, layers in zip("AB", (difference.before, difference.after), sides, strict=True):
            if layer not in layers and all(run.job.layers_recorded for run in runs):
                raise self._wrong(f"{layer} is not recorded in {letter}")

    def _nothing_to_compare(self, ratio: _Ratio, difference: Difference) -> str | None:
        """Return why neither side, or only one, has the quantity; None where both have it, or a layer came or went."""
        if any(ratio.is_about(one) and ratio.decides_on(one) for one in difference.changes):
            return None
        rows = [ratio.rows(difference.before), ratio.rows(difference.after)]
        if not any(rows):
            return f"rule {self.text!r}: neither A nor B has {ratio.operations}"
        having = [ratio.having(side) for side in rows]
        if having[0] & having[1]:
            return None
        untold = [one for one in difference.not_recorded if one.id in (ratio.id, "layer") and ratio.is_about(one)]
        self._refuse(untold, ratio.id)
        which = "neither A nor B has" if not any(having) else f"{'B' if having[0] else 'A'} does not have"
        of = f" of {ratio.operations}" if ratio.layer or ratio.direction else ""
        return f"rule {self.text!r}: {which} {ratio.id}{of} to compare"

    def _refuse(self, untold: Sequence[NotRecorded], quantity: str) -> None:
        if untold:
            raise self._wrong(f"{quantity} is not recorded in {'A' if untold[0].side == 'before' else 'B'}")

    def broken_by(self, difference: Difference) -> tuple[str, ...]:
        """Return the sentences of the changes that break the rule."""
        ratio = self._ratio
        if ratio is not None:
            return tuple(change.text for change in difference.changes if ratio.broken_by(change))
        return tuple(
            change.text
            for change in difference.mattering
            if self.text == "changed"
            or (change.good < 0 and (self.text == "worse" or change.id.startswith("finding:")))
        )


def _nearest(text: str, known: Sequence[str]) -> str:
    """Return the beginning of a sentence that names what was meant; empty where nothing is like it."""
    folded = {one.lower(): one for one in known}
    found = difflib.get_close_matches(text.lower(), folded, 1)
    return f"did you mean {folded[found[0]]}? " if found else ""


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
