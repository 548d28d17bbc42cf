"""The first sentences of a report, with each period in words and the stretches of the run in which it holds."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ...analysis.comparison.alike import alike, is_part
from ...analysis.comparison.layer_periods import LayerPeriod
from ...analysis.findings.find import LEAST_COST
from ...analysis.results.result import PeriodResult, Regime
from ...layers.attribution.breakdown import METADATA_KINDS
from ...model.document import Document
from ...model.quantities import (
    bytes_text,
    count_text,
    counted,
    interval_text,
    seconds_range_text,
    seconds_text,
    share_text,
)

_REGIMES_SAID: Final = 4
_SAME: Final = 0.05
"""Share by which the periods of regimes in a row differ at most that are told together."""


def every_text(result: PeriodResult, window: tuple[float, float], brief: bool = False) -> str:
    """Return how often something comes, and from when to when where that is not the whole run.

    Parameters
    ----------
    result : PeriodResult
        With a period.
    window : (float, float)
        Of the signal, in s.
    brief : bool
        Leave out the interval of the period.

    Returns
    -------
    str
        ``every 450 ms (450.0 … 450.0 ms)``, or ``every 200 ms from 100 ms to 4.1 s, then every 450 ms to 9.5 s``.
    """
    period, regimes = result.period or 0.0, result.regimes
    if len(regimes) > 1:
        return _in_regimes(regimes)
    text = f"every {seconds_text(period) if brief else interval_text(period, result.period_interval)}"
    if len(regimes) == 1 and is_part(regimes[0], result, window):
        text += f" {_when(regimes[0])}"
    return text


def certainty_text(result: PeriodResult) -> str:
    """Return the confidence in a period, in words; of several regimes that in each of those that are named."""
    said = [[one.confidence for one in some] for some in _named(result.regimes)[:_REGIMES_SAID]]
    known = [min(one for one in some if one is not None) for some in said if None not in some]
    if len(result.regimes) < 2 or len(known) < len(said):
        return f"confidence {result.confidence:.2f}"
    texts = [f"{value:.2f}" for value in known]
    if len(set(texts)) == 1:
        return f"confidence {texts[0]}{' each' if len(texts) > 1 else ''}"
    return f"confidence {', '.join(texts[:-1])} and {texts[-1]}"


def period_text(result: PeriodResult, window: tuple[float, float]) -> str:
    """Return a verdict in words, as the heading of a picture of the signal."""
    if not result.periodic or result.period is None:
        return "no period"
    return f"{every_text(result, window)}, {certainty_text(result)}"


def _when(regime: Regime) -> str:
    """Return from when to when a regime holds, as one time where it is too short to tell its ends apart."""
    start, end = seconds_text(regime.start), seconds_text(regime.end)
    return f"at {start}" if start == end else f"from {start} to {end}"


def _named(regimes: Sequence[Regime]) -> list[list[Regime]]:
    """Return regimes in a row whose periods are nearly the same together: pauses between them are no other pace."""
    named: list[list[Regime]] = []
    for regime in regimes:
        if named and abs(regime.period / named[-1][0].period - 1) <= _SAME:
            named[-1].append(regime)
        else:
            named.append([regime])
    return named


def _in_regimes(regimes: tuple[Regime, ...]) -> str:
    named = _named(regimes)
    text, before = "", None
    for some in named[:_REGIMES_SAID]:
        paces = sorted(one.period for one in some)
        start, end = some[0].start, some[-1].end
        text += f"{', then ' if before else ''}every {seconds_range_text(paces[0], paces[-1])}"
        # A stretch without a period between two regimes is at least a period long.
        if before is None and len(some) == 1:
            text += f" {_when(some[0])}"
        elif before is None or start - before.end > max(before.period, some[0].period):
            text += f" from {seconds_text(start)} to {seconds_text(end)}"
        else:
            text += f" to {seconds_text(end)}"
        text += f" in {len(some)} stretches" if len(some) > 1 else ""
        before = some[-1]
    if len(named) > _REGIMES_SAID:
        left = len(regimes) - sum(map(len, named[:_REGIMES_SAID]))
        text += f" and so on in {counted(left, 'further regime', 'further regimes')}"
    return text


_VERBS: Final = {"write": "wrote", "read": "read"}
_OTHER_LAYER: Final = 0.05
"""Share of the program's own bytes of a direction from which on a further layer is named."""
_OTHER_WAY: Final = 0.01
"""Bytes of the other direction are named from this multiple of those of the larger on."""
_SAID: Final = ("write-amplification", "read-amplification")


def first_sentences(layers: Document, periods: Iterable[LayerPeriod], comparison: Document | None) -> list[str]:
    """Return the sentences.

    Parameters
    ----------
    layers : dict
        Document of ``iostrata layers --json``.
    comparison : dict, optional
        Document of ``iostrata compare --json``.
    """
    if not holds_io(layers):
        read = " that could be read" if layers["damage"]["damaged"] else ""
        return [f"The trace holds no I/O records{read}; the guide's page on recording tells how to record them."]
    entries = [entry for entry in layers["layers"] if entry["bytes"]]
    if not entries:
        said = [no_bytes(layers)]
        made = layers.get("metadata_calls") or []
        if made:
            longest = max(made, key=lambda one: one["summed_s"])["layer"]
            kinds = [one for one in made if one["layer"] == longest and one["kind"] in METADATA_KINDS]
            # Kinds are plurals; of one call the number says so.
            told = ", ".join(f"{count_text(one['calls'])} {one['kind'].replace('_', ' ')}" for one in kinds)
            spent = seconds_text(sum(one["summed_s"] for one in kinds))
            said.append(f"{longest} made {told}, which took {spent} in all, summed over ranks.")
        if comparison and comparison["findings"]:
            said.append(_sentence(comparison["findings"][0]["text"]))
        return said
    return [
        _volume(entries, layers["trace"], comparison),
        _regularity(list(periods)),
        _look_here(entries, layers, comparison),
    ]


def no_bytes(layers: Document) -> str:
    """Return what is said in place of bytes where the document of ``iostrata layers --json`` has none."""
    if any(entry["bytes"] is None and entry["operations"] for entry in layers["layers"]):
        return "How many bytes were moved is not recorded."
    return "No bytes were moved on the selected files."


def holds_io(layers: Document) -> bool:
    """Tell whether the trace of a document of ``iostrata layers --json`` holds any record of I/O."""
    return bool(layers["trace"]["io_events"] or layers["layers"] or layers["set_aside"]["operations"])


def _on(entry: Document, ranks: str, pairs: list[Document]) -> str:
    """Return on how many of several ranks, where that is known: those that moved bytes, where flows tell."""
    ends = entry["layer"], entry["direction"]
    movers = [pair["writers_upper"] for pair in pairs if (pair["upper"], pair["direction"]) == ends]
    known = next((count for count in movers if count), entry["ranks"])
    if known is None or ranks.startswith("1 "):
        return ""
    return f", on all {ranks}" if ranks.startswith(f"{known:,} ") else f", on {known:,} of {ranks}"


def _volume(entries: list[Document], trace: Document, comparison: Document | None) -> str:
    """Return how much the program moved through which layers, and what the lowest layer made of it."""
    direction, other = sorted(("write", "read"), key=lambda way: -_own(entries, way))
    ranks = counted(trace["ranks"], *(("process", "processes") if trace.get("processes") else ("rank",)))
    layers = [entry for entry in entries if entry["direction"] == direction]
    pairs = [] if comparison is None else comparison.get("pairs", [])
    if len(layers) > 1 and any(entry["own_bytes"] is None for entry in layers):
        # Nobody knows which of them the program itself called.
        each = [f"{bytes_text(entry['bytes'])} through {entry['layer']}{_on(entry, ranks, pairs)}" for entry in layers]
        return f"Each layer {_VERBS[direction]}, whoever caused it: {'; '.join(each)}."
    said = _substantial(entries, direction)
    if not said:
        top = max(entries, key=lambda entry: entry["bytes"])
        moved = f"{_VERBS[top['direction']]} {bytes_text(top['bytes'])}"
        return f"{top['layer']} {moved} for the layers above it{_on(top, ranks, pairs)}."
    top, *more = said
    text = f"The program {_VERBS[direction]} {_through(top)}{_on(top, ranks, pairs)}"
    also = _substantial(entries, other) if _own(entries, other) >= _OTHER_WAY * _own(entries, direction) else []
    text += f", {'' if len(more) > 1 else 'and '}{_all_through(more)}" if more else ""
    text += f", and {_VERBS[other]} {_all_through(also)}" if also else ""
    return f"{text}{_made_below(top, pairs, bool(more or also))}."


def _all_through(entries: list[Document]) -> str:
    return _listed([_through(entry) for entry in entries])


def _made_below(top: Document, pairs: list[Document], named: bool) -> str:
    """Return what the lowest layer below one made of its bytes, which are `named` where others are given, too."""
    ends = top["layer"], top["direction"]
    below = [pair for pair in pairs if (pair["upper"], pair["direction"]) == ends and pair["lower_bytes"]]
    if not below:
        return ""
    lowest, factor = below[-1], below[-1].get("amplification")
    times = "" if factor is None else f", {factor:.2f} times as much" if abs(factor - 1) >= 0.005 else ", as much"
    what = f"what it {_VERBS[top['direction']]} through {top['layer']}" if named else "this"
    return f"; of {what} {lowest['lower']} made {bytes_text(lowest['lower_bytes'])}{times}"


def _own(entries: list[Document], direction: str) -> float:
    """Return what the program itself moved in a direction, through whatever layer."""
    return float(sum(_own_bytes(entry) for entry in entries if entry["direction"] == direction))


def _own_bytes(entry: Document) -> float:
    """Return what the program moved by calling the layer itself; all, where no handles tell what others caused."""
    found: float = entry["bytes"] if entry["own_bytes"] is None else entry["own_bytes"]
    return found


def _substantial(entries: list[Document], direction: str) -> list[Document]:
    """Return the layers through which the program itself moved a substantial share, the largest first."""
    least = max(_OTHER_LAYER * _own(entries, direction), 1)
    found = [entry for entry in entries if entry["direction"] == direction and _own_bytes(entry) >= least]
    return sorted(found, key=lambda entry: -_own_bytes(entry))


def _through(entry: Document) -> str:
    return f"{bytes_text(_own_bytes(entry))} through {entry['layer']}"


def _regularity(periods: list[LayerPeriod]) -> str:
    """Return what comes how often, the largest signal first."""
    periodic = [period for period in periods if period.result.periodic and period.result.period is not None]
    if not periodic:
        largest = max(periods, key=lambda period: period.signal.volume, default=None)
        reason = "." if largest is None else f": {_lower_first(largest.result.reason)}"
        return f"No layer has a period{reason}"
    strongest = max(periodic, key=lambda period: period.signal.volume)
    result, window = strongest.result, strongest.signal.window
    together = [period for period in periodic if alike(period.result, result, window)]
    others = [other for other in periodic if not alike(other.result, result, window)]
    text = f"{_of_layers(together)} {every_text(result, window)}, {certainty_text(result)}"
    if others:
        text += "; " + "; ".join(_other(others[:3]))
    if len(others) > 3:
        text += f" and {counted(len(others) - 3, 'other')}"
    largest = max(periods, key=lambda period: period.signal.volume)
    if not largest.result.periodic and largest.signal.volume > 10 * strongest.signal.volume:
        text += f"; the {_noun(largest)} of {largest.layer}, which moved most, have no period"
    return text + "."


def _of_layers(periods: list[LayerPeriod]) -> str:
    """Return what comes: I/O, writes or reads of some layers."""
    ways = {period.direction for period in periods}
    names = _listed(list(dict.fromkeys(period.layer for period in periods)))
    return f"I/O of {names} comes" if len(ways) > 1 else f"{_noun(periods[0]).capitalize()} of {names} come"


def _noun(period: LayerPeriod) -> str:
    return "writes" if period.direction == "write" else "reads"


def _other(others: list[LayerPeriod]) -> Iterator[str]:
    for other in others:
        window = other.signal.window
        yield f"{_noun(other)} of {other.layer} {every_text(other.result, window, brief=True)}"


def _look_here(entries: list[Document], layers: Document, comparison: Document | None) -> str:
    if layers["damage"]["damaged"]:
        lost = layers["damage"]["events_expected"] - layers["damage"]["events_read"]
        return (
            f"The trace is damaged in {counted(len(layers['damage']['locations']), 'location')}, "
            f"{counted(max(lost, 0), 'event')} are lost: all numbers cover what could be read."
        )
    findings = [] if comparison is None else comparison.get("findings", [])
    # The first sentence tells of amplification already.
    news = [found for found in findings if found["id"] not in _SAID and (found["cost_share"] or 0) >= LEAST_COST]
    if news:
        return _sentence(str(news[0]["text"]))
    if any(entry["busy_s"] is None for entry in entries):
        return f"{layers['trace']['recorder']} recorded no single operations."
    busiest = max(entries, key=lambda entry: entry["busy_s"])
    start, end = layers["trace"]["window_s"]
    # Not what ranks did: an asynchronous operation is under way while its rank computes.
    return (
        f"A {busiest['direction']} of {busiest['layer']} was under way during {seconds_text(busiest['busy_s'])}, "
        f"{share_text(busiest['busy_s'], end - start)} of the time."
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _sentence(text: str) -> str:
    """Return a text as a sentence; names such as netCDF keep their first letter."""
    first = text.split(" ", 1)[0]
    return f"{text[:1].upper() if first.islower() else text[:1]}{text[1:].rstrip('.')}."


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
