"""The terminal view of ``iostrata compare``."""

from collections.abc import Callable, Iterable
from typing import Final

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from ...analysis.comparison.iterations import VERDICTS
from ...analysis.comparison.layers import Comparison, FlushTime
from ...analysis.comparison.periods import PeriodComparison
from ...analysis.comparison.side_by_side import SideBySide
from ...analysis.findings.find import no_findings
from ...layers.flow.access_pattern import Access
from ...layers.flow.balance import CAUSES, WITHOUT_PARENT, HiddenTraffic, TimeSplit
from ...layers.flow.flow import Flow
from ...model.metrics import UNKNOWN
from ...model.quantities import bytes_text, count_text, counted, interval_text, seconds_text, share_text
from ...model.text import printable
from .console import (
    bounded,
    first_findings,
    fits,
    fitted,
    folded_column,
    name_column,
    plain_table,
    print_damage,
    print_findings,
    print_heading,
    print_paragraph,
)

_ROOM_FOR_INTERVALS: Final = 100
_FAR: Final = "⇢"
_FINDINGS: Final = 3
_NEIGHBOURS: Final = 8
_SCREEN: Final = 19
"""Lines of a terminal of 24 without the heading and the prompt."""


def print_comparison(comparison: Comparison, console: Console, brief: bool = False) -> None:
    """Print each pair of neighbours and the first findings; then all findings, pairs, periods and what is hidden.

    With `brief` only the first two, which a terminal of 24 lines holds.
    """
    print_heading(comparison.trace, console)
    flows = [flow for flow in comparison.flows if flow.lower_operations]
    only_sides = not flows and not all(side.counted for side in comparison.sides)
    if only_sides or comparison.trace.definitions.recording.reason("operations"):
        _print_sides(comparison, console, brief)
        print_damage(comparison.trace.damage, console)
        return
    rows = 0
    if flows:
        rows = _print_neighbours(comparison, flows, console)
    elif not comparison.sides:
        console.print("No layer has operations on the selected files below those of another.")
        rows = 1
    if comparison.sides:
        if flows:
            console.print()
        rows += _print_side_table(comparison, console)
    console.print()
    for line in first_findings(comparison.findings, _FINDINGS, _SCREEN - rows, console) or [Text("No findings.")]:
        console.print(line, no_wrap=True, overflow="ignore", crop=False)
    if not brief:
        _print_details(comparison, flows, console)
    print_damage(comparison.trace.damage, console)


def _table(names: str, *columns: Column | str, gap: int = 1) -> Table:
    """Return a table of pairs of layers and directions."""
    return plain_table(folded_column(names, 8), name_column(), *columns, gap=gap)


def _print_neighbours(comparison: Comparison, flows: list[Flow], console: Console) -> int:
    """Print a row for each pair of neighbours, as many as a screen has room for, and return the number of lines."""
    places = {id(flow): place for place, flow in enumerate(comparison.flows)}
    near = [flow for flow in flows if flow.adjacent] or flows
    shown = near[:_NEIGHBOURS] if bounded(console) else near
    columns = {title: text for title, _, text in _FLOW_COLUMNS if title and title not in ("inside", "hidden")}
    table = _table("layers", *columns, "period")
    for flow in shown:
        found = comparison.periods.get(places[id(flow)])
        table.add_row(_named(flow), flow.direction, *(text(flow) for text in columns.values()), _verdict(found))
    console.print(fitted(table, console, "fan-out", "period", "ranks"))
    if len(shown) < len(near):
        console.print(Text(f"and {counted(len(near) - len(shown), 'further pair')}, see below", style="dim"))
    return len(shown) + 1 + (len(shown) < len(near))


def _print_sides(comparison: Comparison, console: Console, brief: bool) -> None:
    """Print layers of which nobody knows what serves what."""
    recording = comparison.trace.definitions.recording
    if comparison.sides:
        _print_side_table(comparison, console)
        if not brief:
            _print_periods(comparison, console)
    else:
        console.print("No two layers moved bytes in the same direction.")
    console.print()
    found = first_findings(comparison.findings, _FINDINGS, _SCREEN - len(comparison.sides), console)
    for line in found or [Text(no_findings(recording))]:
        console.print(line, no_wrap=True, overflow="ignore", crop=False)
    sides = "layers stand side by side, with all that each moved; what" if comparison.sides else "what"
    why = f"{recording.recorder} recorded no single operations"
    if not recording.reason("operations"):
        why = "Requests of a block device bear neither process nor file"
    text = f"{why}: {sides} of one layer served which other is not known; {recording.remedy or ''}"
    print_paragraph(printable(text.rstrip("; ")), console, "dim", indent=0)
    for side in comparison.sides:
        if side.meanwhile_bytes is not None:
            share = share_text(side.meanwhile_bytes, side.lower_layer_bytes)
            text = (
                f"{printable(side.lower)} {side.direction}: {bytes_text(side.meanwhile_bytes)} of "
                f"{bytes_text(side.lower_layer_bytes)} ({share}) while a {printable(side.upper)} {side.direction} was "
                "under way; the rest when none was: written back, read ahead, or of another program"
            )
            print_paragraph(text, console, "dim", indent=0)


def _print_side_table(comparison: Comparison, console: Console) -> int:
    """Print a row for each pair of layers side by side, and return the number of lines."""
    table = _table("layers", "above", "below", "amplif.", "operations", "ranks", "period")
    for place, side in enumerate(comparison.sides, len(comparison.flows)):
        moved = bytes_text(side.upper_bytes), bytes_text(side.lower_layer_bytes), _ratio(side.ratio)
        beside = _beside(side.upper_operations, side.lower_operations), _beside(side.upper_ranks, side.lower_ranks)
        table.add_row(_named(side), side.direction, *moved, *beside, _verdict(comparison.periods.get(place)))
    console.print(table)
    by_counters = any(side.counted for side in comparison.sides)
    if by_counters:
        text = "|: side by side, with all that each moved; counters alone tell of one, and not what served which"
        print_paragraph(text, console, "dim", indent=0)
    return len(comparison.sides) + 1 + by_counters


def _beside(upper: int | None, lower: int | None) -> str:
    """Return numbers of two layers as a cell; nothing where neither is known."""
    known = (UNKNOWN if one is None else count_text(one) for one in (upper, lower))
    return UNKNOWN if upper is None and lower is None else " | ".join(known)


def _verdict(found: PeriodComparison | None) -> str:
    """Return what becomes of iterations or of a period on the way down, and the period above where it has one."""
    if found is None or (found.verdict == "none" and found.by_iteration is None):
        return "–"
    text = _verdict_alone(found)
    for result in (found.upper, found.lower):
        if result is not None and result.period is not None:
            return f"{text}, {seconds_text(result.period)}"
    return text


def _verdict_alone(found: PeriodComparison) -> str:
    """Return what becomes of the iterations of a loop, with their number; without a loop the verdict on the period."""
    by = found.by_iteration
    return found.verdict if by is None else f"{by.verdict} {by.count:,} ×"


def _print_details(comparison: Comparison, flows: list[Flow], console: Console) -> None:
    console.print()
    if comparison.findings:
        console.print(Text("Findings, with what helps", style="bold"))
        print_findings(comparison.findings, console)
        console.print()
    if flows:
        wide = _pairs(flows, roomy=True)
        console.print(
            wide if fits(wide, console) else fitted(_pairs(flows, roomy=False), console, "fan-out", "inside", "hidden")
        )
        console.print()
        text = (
            "amplification: bytes below over bytes above, by descent (through handles below the upper layer's) or "
            "inside (within its operations, flushes among them); hidden: bytes below outside of them; fan-out: lower "
            "operations inside one upper operation; time above: summed over ranks"
        )
        if not all(flow.adjacent for flow in flows):
            text += f"; {_FAR}: with other layers in between"
        print_paragraph(text, console, "dim", indent=0)
        _print_periods(comparison, console)
    _print_times(comparison.times, console)
    _print_flushes(comparison.flush_times, console)
    _print_accesses(comparison.accesses, console)
    _print_hidden(comparison.hidden, console)


def _pairs(flows: Iterable[Flow], roomy: bool) -> Table:
    titled = ((wide if roomy else narrow, text) for narrow, wide, text in _FLOW_COLUMNS)
    columns = {title: text for title, text in titled if title}
    table = _table("layers", *columns, gap=2 if roomy else 1)
    for flow in flows:
        table.add_row(_named(flow), flow.direction, *(text(flow) for text in columns.values()))
    return table


def _named(flow: Flow | SideBySide) -> Text:
    if isinstance(flow, SideBySide):
        return Text(f"{printable(flow.upper)} | {printable(flow.lower)}", style="bold" if flow.adjacent else "")
    arrow, style = ("→", "bold") if flow.adjacent else (_FAR, "")
    return Text(f"{printable(flow.upper)} {arrow} {printable(flow.lower)}", style=style)


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _busiest(flow: Flow) -> str:
    share = flow.lower_ranks.ranks.busiest_share
    return "–" if share is None else f"rank {flow.lower_ranks.ranks.busiest}: {share_text(share, 1.0)}"


_FLOW_COLUMNS: Final[tuple[tuple[str, str, Callable[[Flow], str]], ...]] = (
    ("above", "above", lambda flow: bytes_text(flow.upper_bytes)),
    ("below", "below by descent", lambda flow: bytes_text(flow.lower_bytes)),
    ("amplif.", "amplification", lambda flow: _ratio(flow.amplification)),
    ("inside", "amplification inside", lambda flow: _ratio(flow.attributed_amplification)),
    ("hidden", "hidden", lambda flow: bytes_text(flow.hidden_bytes) if flow.hidden_bytes else "–"),
    ("ranks", "", lambda flow: f"{flow.upper_ranks.movers} → {flow.lower_ranks.movers}"),
    ("", "ranks above", lambda flow: count_text(flow.upper_ranks.movers)),
    ("", "ranks below", lambda flow: count_text(flow.lower_ranks.movers)),
    ("", "busiest", _busiest),
    ("fan-out", "fan-out", lambda flow: _ratio(flow.fan_out)),
    ("", "time above", lambda flow: seconds_text(flow.upper_summed_s)),
    ("", "in the lower layer", lambda flow: share_text(flow.contained_s, flow.upper_summed_s)),
)
"""Title on a narrow terminal and on one with room, empty where there is no such column, and its text of a flow."""


def _print_periods(comparison: Comparison, console: Console) -> None:
    pairs: tuple[Flow | SideBySide, ...] = (*comparison.flows, *comparison.sides)
    told = {place: found for place, found in comparison.periods.items() if _verdict(found) != "–"}
    moving = [place for place, flow in enumerate(pairs) if isinstance(flow, SideBySide) or flow.lower_operations]
    shown = [(pairs[place], told[place]) for place in moving if place in told]
    if not shown:
        return
    console.print()
    above, below = (Column(title, justify="right", overflow="fold") for title in ("above", "below"))
    table = _table("period of", above, below, name_column("verdict"), "lag", "coherence")
    for flow, found in shown:
        table.add_row(_named(flow), flow.direction, *_period_cells(found, console.width >= _ROOM_FOR_INTERVALS))
    console.print(table)
    text = "lag: positive where the lower layer follows; coherence: from 0 to 1, at the period of the upper layer"
    by_iteration = {found.by_iteration.verdict for _, found in shown if found.by_iteration is not None}
    if by_iteration:
        meaning = "; ".join(f"{name}: {VERDICTS[name]}" for name in VERDICTS if name in by_iteration)
        text += f"; of the iterations (×) of a loop: {meaning}"
    print_paragraph(text, console, "dim", indent=0)


def _period_cells(found: PeriodComparison, intervals: bool) -> list[str]:
    """Return the cells of a pair; without room for intervals, which `periods` tells, the periods alone."""
    values = [
        interval_text(result.period, result.period_interval if intervals else None)
        if result and result.period is not None
        else "–"
        for result in (found.upper, found.lower)
    ]
    coherence = found.coherence if found.upper is not None and found.upper.periodic else None
    lag, strength = (None, None) if coherence is None else (coherence.lag, coherence.coherence)
    values += [_verdict_alone(found), "–" if lag is None else seconds_text(lag)]
    return [*values, "–" if strength is None else f"{strength:.2f}"]


def _print_times(times: Iterable[TimeSplit], console: Console) -> None:
    for place, one in enumerate(times):
        if not place:
            console.print()
            console.print(Text("Where the time of operations goes, summed over ranks", style="bold"))
        parts = [f"{printable(name)} {share_text(spent, one.summed_s)}" for name, spent in one.spent_s.items() if spent]
        line = Text.assemble((f"{printable(one.layer)} {one.direction}", "bold"), f" {seconds_text(one.summed_s)}: ")
        line.append(", ".join(parts))
        print_paragraph(line, console)


def _print_flushes(flushes: Iterable[FlushTime], console: Console) -> None:
    """Print the time in which each layer flushed, beside that of its reads and writes."""
    for one in flushes:
        share = share_text(one.flush_s, one.busy_s)
        text = f" busy for {seconds_text(one.flush_s)}, {share} of that of its reads, writes and flushes"
        print_paragraph(Text.assemble((f"{printable(one.layer)} flush", "bold"), text), console)


def _print_accesses(accesses: Iterable[Access], console: Console) -> None:
    """Print how requests go through files: the program's own, and those that a layer right above makes."""
    for place, one in enumerate(accesses):
        if not place:
            console.print()
            title = "Access pattern: each request against the one before of its process and file"
            print_paragraph(Text(title, style="bold"), console, indent=0)
        shares = ", ".join(f"{share_text(share, 1.0)} {kind}" for kind, share in one.shares.items() if share)
        line = Text.assemble((printable(one.name), "bold"), f" {counted(one.operations, 'request')}: {shares}")
        print_paragraph(line, console)


def _print_hidden(hidden: Iterable[HiddenTraffic], console: Console) -> None:
    for place, one in enumerate(hidden):
        if not place:
            console.print()
            console.print(Text("Hidden traffic", style="bold"))
        share = share_text(one.share, 1.0)
        what = f"{counted(one.operations, one.direction)} with {bytes_text(one.bytes)} ({share} of the layer's)"
        if one.kind == WITHOUT_PARENT:
            text = f"{one.layer}: {what} inside no operation of {one.other}"
        else:
            text = f"{one.layer}: {what} with nothing of a lower layer inside"
        print_paragraph(f"{printable(text)}; {CAUSES[one.cause]}", console)
