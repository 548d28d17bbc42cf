"""What a run's recorder would have told had it been there, as what it would not is no change where it is missing.

And whether two sides do the same work: what the program itself moves, whichever way it takes through the layers.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from ...analysis.findings import rules
from ...model.document import Record
from ...model.quantities import bytes_text, counted
from ..collection.loops import steps_of
from ..collection.rows import FindingRow, Run
from .words import things_text

Side = Literal["before", "after"]
SIDES: Final[tuple[Side, Side]] = ("before", "after")
_MOST_NAMED: Final = 8
_OF_THE_RECORDING: Final = "missing-lower-layer"
"""A finding about what was recorded, not about the run."""


class NotRecorded(Record):
    """Something that only one side's recorder tells, which therefore cannot be compared.

    Attributes
    ----------
    id : str
        As that of a change.
    layer, direction : str or None
    side : {"before", "after"}
        The side that does not have it.
    recorders : tuple of str
        Of that side.
    text : str
        What it is, in words; of a quantity of a layer its name.
    """

    id: str
    layer: str | None
    direction: str | None
    side: Side
    recorders: tuple[str, ...]
    text: str


def not_recorded(
    name: str, layer: str | None, direction: str | None, place: int, runs: Sequence[Run], text: str
) -> NotRecorded:
    """Return what the side at `place`, 0 or 1, with `runs` does not have."""
    recorders = tuple(sorted({run.job.recorder for run in runs if run.job.recorder}))
    return NotRecorded(name, layer, direction, SIDES[place], recorders, text)


def with_layer(runs: Iterable[Run], layer: str, direction: str) -> list[Run]:
    """Return the runs that do something in a layer and direction."""
    return [run for run in runs if any((row.layer, row.direction) == (layer, direction) for row in run.layers)]


def could_tell_layer(runs: Sequence[Run], layer: str, direction: str, having: Iterable[Run]) -> list[Run]:
    """Return the runs whose recorder would have told what a layer does in a direction, as those `having` it did.

    What counts as an operation on metadata is each recorder's own.
    """
    having = list(having)
    recorders = {run.job.recorder for run in having}
    above = _above(layer, having)
    return [
        run
        for run in runs
        if _told(run, run.job.layers_recorded, (layer,), recorders)
        # What a table has no row of is not known to be recorded, but those of one recorder have rows of the same kinds.
        and (
            _told(run, run.job.directions_recorded, (direction,), recorders)
            or (direction == "flush" and run.job.recorder in recorders)
        )
        and (direction != "metadata" or run.job.recorder in recorders)
        and not above & _unfollowed(run)
    ]


def could_tell_finding(runs: Sequence[Run], finding: FindingRow, having: Iterable[Run]) -> list[Run]:
    """Return the runs in which a finding that others have would have been found had it been there."""
    having = list(having)
    recorders = {run.job.recorder for run in having}
    if finding.id == _OF_THE_RECORDING:
        layers = {run.job.layers_recorded for run in having}
        runs = [run for run in runs if run.job.layers_recorded in layers]
    return [
        run
        for run in runs
        if (
            _told(run, run.job.findings_sought, (finding.id,), recorders)
            # What has no flushes is not looked at for findings of them, and has none.
            or (run.job.recorder in recorders and finding.id in _of_flushes())
        )
        and _told(run, run.job.layers_recorded, _layers_of(finding), recorders)
        and (not finding.id.startswith("metadata") or run.job.recorder in recorders)
        and not (finding.layer in _unfollowed(run) and len(_layers_of(finding)) > 1)
    ]


def _of_flushes() -> set[str]:
    """Return the findings that are of flushes."""
    return {rule.id for rule in rules() if "flushes" in rule.needs}


def _unfollowed(run: Run) -> set[str]:
    """Return the layers whose calls of lower layers are not in what was recorded, as where they were not wrapped."""
    return {finding.layer for finding in run.findings if finding.id == _OF_THE_RECORDING}


def _above(layer: str, runs: Sequence[Run]) -> set[str]:
    """Return the layers for which runs did what they did in a layer."""
    found, waiting = set[str](), [layer]
    while waiting:
        lower = waiting.pop()
        new = {row.above for run in runs for row in run.layers if row.layer == lower and row.above} - found
        found |= new
        waiting += new
    return found


def _told(run: Run, told: Sequence[str], wanted: Sequence[str], recorders: set[str | None]) -> bool:
    """Tell whether a run tells all that is wanted; where nobody knows, runs of the same recorder tell the same."""
    return set(wanted) <= set(told) if told else run.job.recorder in recorders


def _layers_of(finding: FindingRow) -> tuple[str, ...]:
    """Return the layers that a finding is about."""
    try:
        evidence = json.loads(finding.evidence)
    except ValueError:
        evidence = {}
    others = [evidence.get(name) for name in ("lower", "other")] if isinstance(evidence, dict) else []
    return (finding.layer, *(one for one in others if isinstance(one, str) and one))


def cautions(runs: tuple[Sequence[Run], Sequence[Run]], untold: Sequence[NotRecorded]) -> tuple[str, ...]:
    """Return a sentence for each side whose recorder does not tell something, and for each that is damaged."""
    found = []
    for letter, name, side in zip("AB", SIDES, runs, strict=True):
        things = [one for one in untold if one.side == name]
        if things:
            by = ", ".join(dict.fromkeys(recorder for one in things for recorder in one.recorders))
            texts = _texts(things)
            more = f"; and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
            listed = "; ".join(texts[:_MOST_NAMED])
            how = _how_unknown(things, runs)
            found.append(f"Not compared, as it is not {how} {letter}{f' ({by})' if by else ''}: {listed}{more}")
        damaged = [run for run in side if run.job.damaged]
        if damaged:
            lost = sum(run.job.events_lost or 0 for run in damaged)
            which = letter if len(side) == 1 else f"{len(damaged)} of {counted(len(side), 'run')} in {letter}"
            what = f" and lost {counted(lost, 'event')}" if lost else ""
            verb = "is" if len(damaged) == 1 else "are"
            found.append(f"{which} {verb} damaged{what}: differences may come from that")
    return tuple(found)


def _how_unknown(things: Sequence[NotRecorded], runs: tuple[Sequence[Run], Sequence[Run]]) -> str:
    """Return how things are not known of a side, in words.

    Where the same recorder tells sizes of the other side, there were too many operations here to keep them.
    """
    same = {run.job.recorder for run in runs[0]} & {run.job.recorder for run in runs[1]}
    kept = all(one.id == "request-size" and same.issuperset(one.recorders) for one in things)
    return "known of" if kept else "recorded in"


def _texts(things: Sequence[NotRecorded]) -> list[str]:
    """Return what is not recorded in words, what is of one layer and direction in one phrase."""
    found: dict[tuple[str | None, ...], list[str]] = {}
    for one in things:
        quantity = one.id != "layer" and one.direction is not None
        key = (one.layer, one.direction) if quantity else (one.id, one.layer, one.text)
        found.setdefault(key, []).append(one.text)
    return [
        f"{', '.join(texts)} of {things_text(str(key[0]), str(key[1]))}" if len(key) == 2 else texts[0]
        for key, texts in found.items()
    ]


_ANOTHER: Final = 1.5
"""Factor from which on it is not a run with some steps more or less."""
_MAIN_SHARE: Final = 0.25
"""Of the bytes of the layer that moves most, as fill values and whole stripes make those below move more; of directions
of the bytes of both."""


def main_layer(runs: Sequence[Run], direction: str, order: Sequence[str]) -> str | None:
    """Return the highest layer that moves what the program asks for; a lower one may move less for the same work."""
    moved = {layer: _moved(runs, layer, direction) for layer in order}
    most = max(moved.values(), default=0.0)
    return next((layer for layer in order if most and moved[layer] >= most * _MAIN_SHARE), None)


def other_work(before: Sequence[Run], after: Sequence[Run], order: Sequence[str]) -> str | None:
    """Return the sentence that says how the work of two sides differs; None where it is the same, or nobody knows.

    Work are the bytes that the highest layers of those that both recorders watch read and write, and operations on
    metadata where these move none.

    Parameters
    ----------
    order : sequence of str
        Layers, highest first.
    """
    sides = (before, after)
    moved = {direction: _by_program(sides, direction, order) for direction in ("read", "write")}
    most = max(sum(amounts) for amounts in zip(*(one[0] for one in moved.values()), strict=True))
    told = [
        f"it {direction}s {_amount(was)} in A, {_amount(now)} in B{how}"
        for direction, ((was, now), how) in moved.items()
        if max(was, now) >= _MAIN_SHARE * most and _differs(was, now)
    ]
    if not most and len({run.job.recorder for run in (*before, *after)}) == 1:
        was, now = (sum(run.job.metadata_operations or 0 for run in side) / len(side) for side in sides)
        if _differs(was, now):
            numbers = [counted(round(count), "metadata operation") for count in (was, now)]
            told.append(f"it has {numbers[0]} in A, {numbers[1]} in B")
    if not told:
        return None
    return (
        f"The program itself does other work: {'; '.join(told)}. Where that is not the change itself, but another "
        "program or input, times and findings tell nothing of it; so B is called neither better nor worse"
    )


def _by_program(
    sides: tuple[Sequence[Run], Sequence[Run]], direction: str, order: Sequence[str]
) -> tuple[list[float], str]:
    """Return the bytes that the program asks for on each side, of layers that both watch, and how they are counted.

    What is read again, or was written by the process itself, is no other work if it is read no more; nor is it if a
    layer below does so for as many bytes.
    """
    known = [layer for layer in order if all(_watched(side, layer, direction, sides) for side in sides)]
    if len(known) == len(order) and all(_own(run, direction) is not None for side in sides for run in side):
        return _own_work(sides, direction)
    layers = [main_layer(side, direction, known) for side in sides]
    of_layers = zip(sides, layers, strict=True)
    return [0.0 if layer is None else _moved(side, layer, direction) for side, layer in of_layers], ""


def _own_work(sides: tuple[Sequence[Run], Sequence[Run]], direction: str) -> tuple[list[float], str]:
    """Return the bytes that the program moves itself on each side, as `_by_program` has them, where all are known."""
    ways = [[_mean_of(side, direction, of) for side in sides] for of in (_own, _distinct, _once)]
    moved, _, once = ways
    if (same := next((one for one in ways if not _differs(*one)), None)) is not None:
        return same, ""
    # What is read all over again on one side is not nothing beside what is read on the other.
    nothing = any(was and not now for was, now in zip(moved, once, strict=True))
    nothing &= max(once) >= _MAIN_SHARE * max(moved)
    return (moved, "") if nothing or once == moved else (once, ", each byte once")


def _mean_of(runs: Sequence[Run], direction: str, of: Callable[[Run, str], float | None]) -> float:
    return sum(of(run, direction) or 0.0 for run in runs) / len(runs)


def _own(run: Run, direction: str) -> float | None:
    """Return the bytes that a program moves itself in one direction; None where that is not known."""
    return run.job.bytes_read if direction == "read" else run.job.bytes_written


def _distinct(run: Run, direction: str) -> float | None:
    """Return the same with each byte once."""
    moved = _own(run, direction)
    if moved is None or direction == "write":
        return moved
    # What one layer reads again another does as well, unless it reads far more than the program asks for.
    asked = {row.layer for row in run.layers if row.direction == direction and row.bytes <= _ANOTHER * moved}
    return max(0.0, moved - max((_needless(one) for one in run.findings if one.layer in asked), default=0.0))


def _once(run: Run, direction: str) -> float | None:
    """Return the same without what loops write themselves."""
    known = _distinct(run, direction)
    return known if known is None or direction == "write" else max(0.0, known - _of_its_own(run))


def _of_its_own(run: Run) -> float:
    """Return the bytes that loops write to kinds of files that they read, where they read no others."""
    steps = [(one, loop.count * (one.ranks or loop.ranks)) for loop in run.loops for one in steps_of(loop)]
    read, written = ({one.file for one, _ in steps if one.kind == kind} for kind in ("read", "write"))
    mine = [(one, times) for one, times in steps if one.kind == "write" and one.file in read and read <= written]
    return sum((one.bytes or one.mean or 0.0) * one.often * times for one, times in mine)


def _needless(one: FindingRow) -> float:
    """Return the bytes that a finding says need not be read, 0 where its evidence makes no sense."""
    try:
        if one.id == "read-back":
            return float(json.loads(one.evidence)["read_back_bytes"])
        if one.id == "redundant-reads":
            evidence = json.loads(one.evidence)
            return float(evidence["read_bytes"] - evidence["distinct_bytes"])
    except (KeyError, TypeError, ValueError):
        pass
    return 0.0


def _moved(runs: Sequence[Run], layer: str, direction: str) -> float:
    """Return the bytes that a run moves in a layer and direction, on average."""
    rows = [row for run in runs for row in run.layers if (row.layer, row.direction) == (layer, direction)]
    return sum(row.bytes for row in rows) / len(runs)


def _watched(runs: Sequence[Run], layer: str, direction: str, sides: tuple[Sequence[Run], Sequence[Run]]) -> bool:
    having = with_layer((*sides[0], *sides[1]), layer, direction)
    return len(could_tell_layer(runs, layer, direction, having)) == len(runs)


def _differs(was: float, now: float) -> bool:
    if not was or not now:
        return was != now
    return abs(math.log(now / was)) >= math.log(_ANOTHER)


def _amount(volume: float) -> str:
    return bytes_text(volume) if volume else "nothing"
