"""Changes in words: a sentence each, what is now before what was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ...analysis.loops.words import size_text
from ...model.quantities import bytes_text, counted, factor_text, percent_text, rate_text, seconds_text

_SURE: Final = 3
_SIZES_SHOWN: Final = 3
"""Sizes of one kind of call in an iteration of which more are told by their mean."""
_UNKNOWN: Final = 25.0
"""Ratio of its ends from which on an interval says nothing: of one run a side it may span many orders of magnitude."""


@dataclass(frozen=True)
class Words:
    """The numbers of a change.

    Attributes
    ----------
    before, after : float
    ratio : float or None
        Of a share the difference.
    interval : (float, float) or None
    runs : int
        Of the side with fewer.
    """

    before: float
    after: float
    ratio: float | None
    interval: tuple[float, float] | None
    runs: int


def times_text(ratio: float) -> str:
    """Return a ratio in words.

    >>> times_text(14.2), times_text(1.121), times_text(0.25), times_text(0.9), times_text(0)
    ('14 times', '12 % more', 'a quarter', '10 % less', 'none')
    """
    if ratio >= 2:
        return f"{factor_text(ratio)} times"
    if ratio >= 1:
        return f"{percent_text(ratio - 1)} more"
    if ratio > 0.5:
        return f"{percent_text(1 - ratio)} less"
    return _part_text(1 / ratio) if ratio > 0 else "none"


def _part_text(parts: float) -> str:
    if abs(parts - round(parts)) > 0.05 * parts or round(parts) > 20:
        return f"1/{factor_text(parts)}"
    number = round(parts)
    return {2: "half", 3: "a third", 4: "a quarter"}.get(number, f"{'an' if number in (8, 11, 18) else 'a'} {number}th")


def run_text(name: str, words: Words) -> str:
    """Return the sentence of a change of whole runs."""
    if name == "duration":
        return _timed("The run takes", words)
    if name == "failed-opens":
        return f"Files are opened in vain {counted(round(words.after), 'time')} instead of {round(words.before):,}"
    noun = name.removesuffix("s-of-run")
    return f"The run has {counted(round(words.after), noun)} instead of {round(words.before):,}"


def layer_text(
    layer: str, direction: str, came: bool, operations: float | None, moved: float, busy: float | None = None
) -> str:
    """Return the sentence of a layer and direction that only one side has; None where something is not known."""
    known = [] if operations is None else [counted(round(operations), "operation")]
    what = ", ".join([*known, bytes_text(moved)] if moved or not known else known)
    what += f", which keep the layer busy for {seconds_text(busy)}" if busy else ""
    name = things_text(layer, direction)
    return f"{name} are new: {what}" if came else f"There are no {name} any more: before {what}"


def quantity_name(name: str) -> str:
    """Return the name of a quantity, for sentences on what is not recorded."""
    return {
        "collective": "the collective share",
        "request-size": "request sizes",
        "operations": "the number",
        "slowest-rank": "the time of the slowest rank",
    }.get(name, name)


def finding_text(
    name: str, found: str, cost: float | None, came: bool, counts: tuple[tuple[int, int], tuple[int, int]]
) -> str:
    """Return the sentence of a finding that came or went; of several runs it says in how many they are.

    Of what was `found` it has the first part, without where: findings of one run tell all of it.
    """
    text = found.split("; ")[0]
    place = text.rfind(" (")
    if text.count("(") > text.count(")") or text[place:].startswith(" (/"):
        text = text[:place]
    text += f"; costs up to {seconds_text(cost)}" if cost else ""
    if max(counts[0][1], counts[1][1]) == 1:
        return f"Finding {name} {'came' if came else 'went'}: {text}"
    (were, of_before), (are, of_after) = counts
    return f"Finding {name} is in {are} of {of_after} runs, before in {were} of {of_before}: {text}"


def cost_text(name: str, layer: str, words: Words) -> str:
    """Return the sentence of a finding of both sides that costs more or less."""
    return _timed(f"Finding {name} ({layer}) costs up to", replace(words, interval=None))


def period_text(
    layer: str, direction: str, before: tuple[int, int], after: tuple[int, int], was: float | None, now: float | None
) -> str:
    """Return the sentence of a period that not all runs have."""
    name = things_text(layer, direction)
    if before[1] == after[1] == 1:
        if now:
            return f"{name} recur every {seconds_text(now)}, before without a period"
        return f"{name} have no period, before they recurred every {seconds_text(was or 0)}"
    return f"{name} have a period in {after[0]} of {after[1]} runs, before in {before[0]} of {before[1]}"


def unsure_period_text(
    layer: str, direction: str, before: tuple[int, int], after: tuple[int, int], was: float | None, now: float | None
) -> str:
    """Return the sentence of a period that not all runs have, where equal runs would differ as much."""
    if before[1] == after[1] == 1:
        often = [f"every {seconds_text(one)}" if one else "none" for one in (was, now)]
        told = f"{often[0]} before, {often[1]} after"
    else:
        told = f"in {before[0]} of {counted(before[1], 'run')} before, {after[0]} of {after[1]} after"
    return f"Whether {things_text(layer, direction)} have a period is not sure enough to compare: {told}"


def average_text(layer: str, direction: str, means: tuple[float, float], medians: tuple[float, float]) -> str:
    """Return the sentence of sizes that change less on average than in the median."""
    (was, now), (before, after) = map(bytes_text, means), map(bytes_text, medians)
    things = things_text(layer, direction)
    if now == was:
        return (
            f"{things} ask for {now} at a time on average on both sides, in the median for {after} instead of {before}"
        )
    return f"{things} ask for {now} at a time on average instead of {was} (median: {after} instead of {before})"


def value_text(name: str, layer: str, direction: str, words: Words) -> str:
    """Return the sentence of a quantity of a layer and direction."""
    things = things_text(layer, direction)
    after, before = words.after, words.before
    if name in ("collective", "non-blocking"):
        return f"{things} are {_how(name, after, before)}"
    if name == "bytes":
        verb = {"read": "reads", "write": "writes"}[direction]
        return f"{layer} {verb} {bytes_text(after)} instead of {bytes_text(before)}{_ratio(words)}"
    if name == "request-size":
        return f"{things} ask for {bytes_text(after)} at a time (median) instead of {bytes_text(before)}{_ratio(words)}"
    if name == "operations":
        noun = {"flush": "flush", "metadata": "metadata operation"}.get(direction, f"{direction} operation")
        plural = "flushes" if direction == "flush" else None
        return f"{layer} has {counted(round(after), noun, plural)} instead of {round(before):,}{_ratio(words)}"
    if name == "seeks":
        return f"{layer} seeks {counted(round(after), 'time')} instead of {round(before):,}{_ratio(words)}"
    now, then = factor_text(after, 3), factor_text(before, 3)
    if name == "imbalance":
        told = f"{things}: the slowest rank takes {now} × the mean of the ranks, before {then} ×"
        return told + _interval(words)
    if name == "amplification":
        return f"{layer} moves {now} B for each byte of the layer above ({direction}), before {then}"
    if name == "period":
        return f"{things} recur every {seconds_text(after)} instead of {seconds_text(before)}{_ratio(words)}"
    if name in ("time", "slowest-rank"):
        return _timed(f"{things} {'keep the layer busy for' if name == 'time' else 'take the slowest rank'}", words)
    if name == "bandwidth":
        told = f"{things} run at {rate_text(after)} instead of {rate_text(before)} while they run{_ratio(words)}"
        return told + _interval(words)
    through = "leave through" if direction == "write" else "come through"
    verb, noun = {"ranks": (through, "rank"), "files": ("go to", "file"), "phases": ("come in", "phase")}[name]
    return f"{things} {verb} {counted(round(after), noun)} instead of {round(before):,}"


def _timed(start: str, words: Words) -> str:
    return (
        f"{start} {seconds_text(words.after)} instead of {seconds_text(words.before)}{_ratio(words)}{_interval(words)}"
    )


def _ratio(words: Words) -> str:
    return "" if words.ratio is None or words.before == words.after else f": {times_text(words.ratio)}"


def _interval(words: Words) -> str:
    if words.interval is None:
        return ""
    few = f"; {counted(words.runs, 'run')} a side" if words.runs < _SURE else ""
    return f" ({_factors(*words.interval)}{few})"


def _factors(low: float, high: float) -> str:
    """Return between which factors a change lies, where that says anything of it."""
    if high >= _UNKNOWN * low:
        return "too uncertain to tell how much"
    # Ends that are the same in two digits have more.
    digits = next((one for one in (2, 3, 4) if f"{low:.{one}g}" != f"{high:.{one}g}"), 2)
    ends = [f"{one:,.0f}" if one >= 10 ** (digits - 1) else f"{one:.{digits}g}" for one in (low, high)]
    return f"{' … '.join(ends)} times"


def count_text(name: str, shared: tuple[int, int] | None, threads: bool, words: Words) -> str:
    """Return the sentence of a loop that has another number of iterations, as another number shares as many."""
    after = counted(round(words.after), "iteration")
    if shared is None:
        return f"The loop{_on(name)} has {after} instead of {round(words.before):,}"
    (before, now), whole = shared, round(words.before * shared[0])
    who = counted(now, "thread" if threads else "rank")
    return f"The {whole:,} iterations{_on(name)} are shared by {who} instead of {before:,}"


def _on(name: str) -> str:
    """Return on which files, where that is known; a name that might be a word of the sentence in quotes.

    >>> _on("all"), _on("run.dat"), _on("")
    (' on "all"', ' on run.dat', '')
    """
    name = f'"{name}"' if name.isalpha() else name
    return f" on {name}" if name else ""


class StepsDone(NamedTuple):
    """Calls of one kind in an iteration: how often, or `about` how often, with how many bytes each.

    `bytes` is None where these vary, by a `mean` if that is known, or where there are none.
    """

    often: int
    bytes: int | None
    mean: float | None = None
    about: bool = False


Steps = Mapping[tuple[str, str], Sequence[StepsDone]]
"""By layer and kind of call."""


def steps_text(name: str, before: Steps, after: Steps) -> tuple[str, str, str]:
    """Return the sentence of a loop whose iterations have other steps, and what only they have on either side."""
    changed, sides = [], ([], [])  # type: tuple[list[str], tuple[list[str], list[str]]]
    for layer, kind in dict.fromkeys((*before, *after)):
        both = before.get((layer, kind), ()), after.get((layer, kind), ())
        # What is the same on both sides is no change.
        was, now = (_only(kind, *pair) for pair in (both, both[::-1]))
        if was != now:
            sides[0].extend(was)
            sides[1].extend(now)
            changed.append(f"{_instead(kind, was, now, all(both))} in {layer}")
    return f"An iteration{_on(name)} does {'; '.join(changed)}", ", ".join(sides[0]), ", ".join(sides[1])


def moved_text(name: str, files: str, steps: Steps, now: bool) -> str:
    """Return the sentence of steps on some files that are in an iteration on one side, and elsewhere on the other."""
    what = ", ".join(_step_text(kind, one) for (_, kind), several in steps.items() for one in _few(several))
    does, else_ = ("now does", "was") if now else ("no longer does", "is now")
    return f"An iteration{_on(name)} {does} on {files} what {else_} done outside of it: {what}"


def _only(kind: str, steps: Sequence[StepsDone], others: Sequence[StepsDone]) -> list[str]:
    """Return the calls of one kind that others are not, in words."""
    # Means may differ by less than words do.
    theirs = {_step_text(kind, one) for one in others}
    return [_step_text(kind, one) for one in _few([one for one in steps if _step_text(kind, one) not in theirs])]


def _instead(kind: str, was: Sequence[str], now: Sequence[str], both: bool) -> str:
    """Return what is done now, in words, and what was, where each side, or `both`, has calls of a kind."""
    if both and not (was and now):
        return f"{'also ' if now else 'no more '}{' and '.join(now or was)}"
    old, new = " and ".join(was), " and ".join(now)
    return f"{new or f'no {kind}'} instead of {old or f'no {kind}'}"


def _few(steps: Sequence[StepsDone]) -> Sequence[StepsDone]:
    """Return calls of one kind; of many sizes as one, with their mean."""
    often, sizes = sum(one.often for one in steps), [one.mean if one.bytes is None else one.bytes for one in steps]
    if len(steps) <= _SIZES_SHOWN or None in sizes:
        return steps
    mean = sum((size or 0) * one.often for one, size in zip(steps, sizes, strict=True)) / often
    return [StepsDone(often, None, mean, any(one.about for one in steps))]


def _step_text(kind: str, one: StepsDone) -> str:
    often = f"{'~' if one.about else ''}{one.often:,} × {kind}"
    if one.bytes is not None:
        return f"{often} {size_text(one.bytes)}"
    if kind not in ("read", "write"):
        return often
    return f"{often} ~{bytes_text(one.mean)}" if one.mean else f"{often} of varying size"


def interval_text(name: str, words: Words, iterations: int, skewed: bool = False) -> str:
    """Return the sentence of how long it is from one iteration to the next."""
    return _iteration_text(f"Iterations{_on(name)} begin every", words, iterations, skewed)


def iteration_text(
    name: str, layer: str | None, words: Words, iterations: int, summed: bool = False, skewed: bool = False
) -> str:
    """Return the sentence of how long an iteration takes, or keeps a layer busy, `summed` over ranks or not."""
    start = f"An iteration{_on(name)} takes" if layer is None else f"An iteration{_on(name)} keeps {layer} busy for"
    start = f"In an iteration{_on(name)} all ranks together are in {layer} for" if summed else start
    return _iteration_text(start, words, iterations, skewed)


def _iteration_text(start: str, words: Words, iterations: int, skewed: bool) -> str:
    mean = " (geometric means)" if skewed else ""
    times = f"{start} {seconds_text(words.after)} instead of {seconds_text(words.before)}{mean}{_ratio(words)}"
    runs = f"{iterations:,} iterations" if words.runs == 1 else f"{words.runs} runs"
    return f"{times} ({_factors(*(words.interval or (0.0, 0.0)))}; {runs} a side)"


def _how(name: str, after: float, before: float) -> str:
    if after > 0.995:
        return f"{name}: all of them, before {_some(before)}"
    if after < 0.005:
        other = {"collective": "independent", "non-blocking": "blocking"}[name]
        return f"{other}: none is {name}, before {_some(before)}"
    return f"{name} by {percent_text(after)}, before {_some(before)}"


def _some(share: float) -> str:
    if share > 0.995:
        return "all were"
    return "none was" if share < 0.005 else f"{percent_text(share)} were"


def things_text(layer: str, direction: str) -> str:
    """Return what a layer does in a direction, in the plural.

    >>> things_text("POSIX", "flush")
    'POSIX flushes'
    """
    plural = {"read": "reads", "write": "writes", "flush": "flushes", "metadata": "metadata operations"}
    return f"{layer} {plural[direction]}"
