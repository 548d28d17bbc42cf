"""The terminal view of ``iostrata periods``: each signal as a curve, its period in words, its cosines."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column
from rich.text import Text

from ...analysis.comparison.alike import alike
from ...analysis.comparison.layer_periods import LayerPeriod, PartsLeftOut
from ...analysis.findings.last_ranks import NO_LAST_RANKS, LastRank, SignalOf
from ...analysis.fitting import SignalFit
from ...analysis.results.result import PeriodResult
from ...layers.statistics.grouping import KINDS_OF_KEYS, part_title
from ...layers.trace import Trace
from ...model.arrays import Floats, Rows
from ...model.quantities import (
    counted,
    deviation_text,
    frequency_text,
    interval_text,
    percent_text,
    range_text,
    seconds_text,
    share_text,
)
from ...model.text import printable, shortened
from ...signals.construction import StepSignal
from ..quantities import QuantityWords, signal_title, words
from ..written import Written
from .console import (
    bounded,
    curve_width,
    fitted,
    name_column,
    plain_table,
    print_damage,
    print_heading,
    print_paragraph,
    print_rest,
    print_set_aside,
    written_lines,
)

GUTTER: Final = 11
"""Columns of the labels left of a curve."""
_DOTS_A_ROW: Final = 4
_BRAILLE_BLANK: Final = 0x2800
_LEFT: Final = (0x40, 0x04, 0x02, 0x01)
_RIGHT: Final = (0x80, 0x20, 0x10, 0x08)
_ASCII: Final = " .:|"
_ROUNDING: Final = 1e-6
"""Share of a column by which times may miss its edge."""


def labelled_curve(
    averages: Floats,
    top: str,
    height: int,
    window: tuple[float, float],
    strips: Sequence[tuple[str, str, str]] = (),
    ascii_only: bool = False,
) -> Iterator[Text]:
    """Give the lines of a curve from 0 to its largest value, with strips below it and an axis of time.

    Parameters
    ----------
    averages : float array (n,)
        ``points_per_column`` of them share a character.
    top : str
        The largest value in words.
    window : (float, float)
        Start and end of the axis in s.
    strips : sequence of (label, line, style)
        As from `interval_row` and `tick_row`.
    """
    width = len(averages) // points_per_column(ascii_only)
    edge, corner, line = "|+-" if ascii_only else "┤└─"
    for number, row in enumerate(area_rows(averages, float(averages.max()), height, ascii_only)):
        yield Text.assemble(f"{top if number == 0 else '':>{GUTTER}}{edge}", (row, "cyan"))
    yield Text(f"{'0':>{GUTTER}}{corner}{line * width}")
    for label, marks, style in strips:
        yield Text.assemble(f"{label:>{GUTTER}} ", (marks, style))
    start, end = window
    labels = (seconds_text(start), seconds_text((start + end) / 2), seconds_text(end))
    yield Text(f"{'':>{GUTTER}} {axis_row(labels, width)}", style="dim")


def points_per_column(ascii_only: bool) -> int:
    """Return how many values `area_rows` draws side by side in one character."""
    return 1 if ascii_only else 2


def area_rows(values: Floats, top: float, height: int, ascii_only: bool = False) -> list[str]:
    """Draw `values` as a filled area on a linear axis from 0 to `top`.

    Parameters
    ----------
    values : float array (n,)
        Not negative; ``points_per_column`` of them share a character.
    top : float
        Value at the upper edge.
    height : int
        Number of lines.
    ascii_only : bool
        Draw with ``. : |`` in place of braille dots.

    Returns
    -------
    list of str
        `height` lines, the highest first. A value above 0 shows at least one dot.
    """
    levels = len(_ASCII) - 1 if ascii_only else _DOTS_A_ROW
    steps = height * levels
    scaled = np.zeros(len(values)) if top <= 0 else np.clip(values / top, 0, 1) * steps
    dots = np.where(values > 0, np.maximum(np.rint(scaled), 1), 0).astype(np.intp)
    rows = []
    for row in range(height - 1, -1, -1):
        filled = np.clip(dots - row * levels, 0, levels)
        rows.append("".join(_ASCII[level] for level in filled) if ascii_only else _braille(filled))
    return rows


def _braille(filled: Rows) -> str:
    if len(filled) % 2:
        filled = np.append(filled, 0)
    left = np.concatenate([[0], np.cumsum(_LEFT)])
    right = np.concatenate([[0], np.cumsum(_RIGHT)])
    codes = _BRAILLE_BLANK + left[filled[::2]] + right[filled[1::2]]
    return "".join(map(chr, codes))


def interval_row(intervals: Iterable[tuple[float, float]], window: tuple[float, float], width: int, mark: str) -> str:
    """Draw `intervals` of time as stretches of `mark` on a line of `width` columns; each takes at least one column."""
    cells = [" "] * width
    for start, end in intervals:
        first = _column(start, window, width)
        beyond = math.ceil(_place(end, window, width) - _ROUNDING)
        last = max(first + 1, min(width, beyond))
        cells[first:last] = mark * (last - first)
    return "".join(cells)


def tick_row(times: Iterable[float], window: tuple[float, float], width: int, mark: str) -> str:
    """Draw `times` as single marks on a line of `width` columns."""
    cells = [" "] * width
    for time in times:
        cells[_column(time, window, width)] = mark
    return "".join(cells)


def axis_row(labels: tuple[str, str, str], width: int) -> str:
    """Write three labels at the left end, the middle and the right end of a line; the middle only where it fits."""
    left, middle, right = labels
    room = width - len(left) - len(right)
    if room < 1:
        return left[:width]
    if room < len(middle) + 4:
        return left + " " * room + right
    before = max(2, width // 2 - len(middle) // 2 - len(left))
    before = min(before, room - len(middle) - 2)
    return left + " " * before + middle + " " * (room - before - len(middle)) + right


def _column(time: float, window: tuple[float, float], width: int) -> int:
    """Return the column that `time` falls into."""
    return min(width - 1, max(0, math.floor(_place(time, window, width) + _ROUNDING)))


def _place(time: float, window: tuple[float, float], width: int) -> float:
    """Return how many columns lie between the window's start and `time`."""
    start, end = window
    return (time - start) / (end - start) * width if end > start else 0.0


_WIDEST_NAME: Final = 12
TITLES: Final = ("period", "conf.", "from … to")
NO_PERIOD: Final = ("–", "–", "–")


class Row(NamedTuple):
    """A row: names on the left, numbers, and the verdict, None where there is none."""

    layer: str
    direction: str
    numbers: tuple[str, ...]
    period: LayerPeriod | None


def print_rows(rows: Sequence[Row], titles: tuple[str, ...], console: Console) -> None:
    """Print a table of `rows`; `titles` are those of the numbers.

    On a terminal a layer is named once, and a period that is that of the layer above is not repeated; a pipe is for
    programs that take line by line.
    """
    width = min(_WIDEST_NAME, max(cell_len(printable(row.layer)) for row in rows))
    layer = Column("layer", no_wrap=True, min_width=min(width, 8))
    table = plain_table(layer, name_column(), *titles, *TITLES, gap=1)
    previous = None
    told: list[tuple[str, LayerPeriod]] = []
    for row in rows:
        name = shortened(printable(row.layer), width)
        shown = name if name != previous or not bounded(console) else ""
        previous = name
        cells = NO_PERIOD
        if row.period is not None:
            same = _told(row, told)
            cells = (f"as {same}", "", "") if same is not None and bounded(console) else period_cells(row.period.result)
            if same is None and row.period.result.periodic:
                told.append((name, row.period))
        table.add_row(Text(shown, style="bold"), row.direction, *row.numbers, *(Text(cell) for cell in cells))
    console.print(fitted(table, console, "from … to", "conf.", "bandwidth", "at rate", "phases", "busy"))


def _told(row: Row, told: Iterable[tuple[str, LayerPeriod]]) -> str | None:
    """Return the layer above whose period in the same direction is that of `row`; None where there is none."""
    if row.period is None:
        return None
    result = row.period.result
    same = [(name, one) for name, one in told if one.direction == row.period.direction]
    found = (name for name, one in same if alike(result, one.result, one.signal.window))
    return next(found, None)


def period_cells(result: PeriodResult) -> tuple[str, str, str]:
    """Return the period with how far it may be off, the confidence, and when it holds; dashes without a period.

    Of several regimes it is the one whose period is the result's; how many others there are follows it.
    """
    if not result.periodic or result.period is None:
        return NO_PERIOD
    cells = deviation_text(result.period, result.period_interval), f"{result.confidence:.2f}"
    regimes = [regime for regime in result.regimes if regime.period == result.period] or list(result.regimes)
    if not regimes:
        return (*cells, "–")
    more = len(result.regimes) - 1
    return (*cells, range_text(regimes[0].start, regimes[0].end) + (f" +{more}" if more else ""))


def notes(rows: Iterable[Row]) -> list[str]:
    """Return what explains the table where it needs that."""
    more = max((len(row.period.result.regimes) - 1 for row in rows if row.period is not None), default=0)
    others = counted(more, "other stretch", "other stretches")
    text = f"+{more}: {others} of the run with another period; iostrata periods has all"
    return [text] if more > 0 else []


_SHOWN: Final = 5


def fit_lines(fit: SignalFit, of: QuantityWords) -> Iterator[str]:
    """Give the error of the fit beside that of the plain sum, and the first cosines of it."""
    cosines = fit.fit.components
    fitted, of_lines = fit.error_shares
    what = f"{counted(len(cosines), 'cosine')} around the mean of {of.rate(cosines.mean)}"
    if fit.variance > 0:
        errors = f"leave {share_text(fitted, 1)} of the variance, the plain Fourier sum {share_text(of_lines, 1)}"
        if fit.fit.fell_back:
            errors += "; no fit was better than the sum"
        else:
            errors += f"; the fit takes {share_text(fit.fit.reduction, 1)} of its error away"
        yield f"{what} {errors}"
    else:
        yield f"{what}: the signal is constant"
    for frequency, amplitude, phase in list(
        zip(cosines.frequency.tolist(), cosines.amplitude.tolist(), cosines.phase.tolist(), strict=True)
    )[:_SHOWN]:
        yield (
            f"  every {seconds_text(1 / frequency)} ({frequency_text(frequency)}): amplitude {of.rate(amplitude)}, "
            f"phase {phase:+.2f} rad"
        )
    if len(cosines) > _SHOWN:
        yield f"  and {counted(len(cosines) - _SHOWN, 'further cosine')}, see --json"


_HEIGHT: Final = 4
_PART_HEIGHT: Final = 2
_CLOSEST_TICKS: Final = 3
_REGIMES_SHOWN: Final = 12
_REASONS_SHOWN: Final = 8
_PHASES_SHOWN: Final = 1000
_FILTERED: Final = (
    "period and phases are those of the filtered signal; curve, volumes and rates those of the signal itself"
)


def print_periods(
    trace: Trace,
    periods: Iterable[LayerPeriod | PartsLeftOut],
    console: Console,
    traffic: str = "all",
    quantity: str = "bandwidth",
    figure: Written | None = None,
    brief: bool = False,
    phases: bool = False,
    last: Mapping[SignalOf, Sequence[LastRank | None]] = NO_LAST_RANKS,
) -> None:
    """Print a table of all periods, and a block per layer, direction and part: curve, phases, and the verdict.

    `traffic` and `quantity` are what was looked at, also where nothing was found. `figure` is the picture that was
    written, if any. With `brief` there are no blocks but the reasons why there is no period; with `phases` each block
    lists all phases, and who was the last rank in each where `last` tells.
    """
    periods = tuple(periods)
    found = [period for period in periods if isinstance(period, LayerPeriod)]
    print_heading(trace, console)
    if found:
        _print_head(found, brief, console)
        console.print()
    told: list[LayerPeriod] = []
    for period in periods:
        if isinstance(period, PartsLeftOut):
            _print_left_out(period, console)
            console.print()
        elif not brief:
            same = [one for one in told if one.direction == period.direction and _alike(one, period)]
            _print_block(period, same[0] if same else None, console)
            if phases:
                _print_phases(
                    period, last.get((period.layer, period.direction or "total", period.traffic), ()), console
                )
            told += [] if same else [period]
            console.print()
    if not periods:
        console.print(_nothing(traffic, quantity))
    _print_false_alarms(found, console)
    if figure is not None:
        console.print(written_lines(figure))
    if not brief:
        print_set_aside(trace, console)
    print_damage(trace.damage, console)


def _print_false_alarms(periods: Iterable[LayerPeriod], console: Console) -> None:
    rates = [period.false_alarm_rate for period in periods if period.false_alarm_rate is not None]
    if rates:
        total, each = sum(rates), percent_text(rates[0])
        text = f"False alarms: {percent_text(total)} over {counted(len(rates), 'part')}, {each} for each."
        console.print(Text(text, style="dim"))


def _nothing(traffic: str, quantity: str) -> Text:
    """Return what to say where no layer has a signal."""
    what = words(quantity).nothing
    where = "by these layers" if quantity == "metadata" else "by these layers and directions"
    hint = ""
    if traffic != "all":
        what, hint = f"{what} as {traffic} traffic", "; --traffic all looks at all of it"
    return Text(f"{what} {where} on the selected files{hint}.")


def _print_head(periods: list[LayerPeriod], brief: bool, console: Console) -> None:
    """Print a row per signal: what it moved, at which rate in its phases, its period, and when that holds."""
    rows = []
    for one in periods:
        of, metrics = words(one.quantity), one.result.metrics
        rate = None if metrics is None else metrics.b_io
        part = () if one.by is None else (shortened(printable(part_title(one.by, one.part)), 24),)
        numbers = (*part, of.volume(one.signal.volume), "–" if rate is None else of.rate(rate))
        count = f"{len(one.result.phases):,}" if one.loop is None else f"{one.loop.count:,} ×"
        rows.append(Row(one.layer, one.direction or "total", (*numbers, count), one))
    of, by = words(periods[0].quantity), periods[0].by
    print_rows(rows, (*((KINDS_OF_KEYS[by].noun,) if by else ()), of.noun, "at rate", "phases"), console)
    if not brief:
        return
    for one in periods[:_REASONS_SHOWN] if by is None else []:
        if not one.result.periodic:
            print_paragraph(f"{signal_title(one)}: {printable(one.result.reason)}", console, "dim", indent=0)


def _alike(one: LayerPeriod, other: LayerPeriod) -> bool:
    """Tell whether the period of one layer is that of another, so that it needs telling once."""
    return one.by is None and alike(one.result, other.result, one.signal.window)


def _print_phases(period: LayerPeriod, last: Sequence[LastRank | None], console: Console) -> None:
    """Print the phases of a signal: when each is, after which time since the last began, what it moves, who is last."""
    phases, of = period.result.phases, words(period.quantity)
    if not phases:
        return
    collective = any(one is not None and one.collective for one in last)
    who = (f"last to {'begin' if collective else 'end'}", "after median") if last else ()
    table = plain_table("phase", "start in s", "end in s", "lasts", "after", of.noun, "mean rate", *who)
    shown = phases[:_PHASES_SHOWN] if bounded(console) else phases
    for number, phase in enumerate(shown, start=1):
        length = phase.end - phase.start
        after = "–" if number == 1 else seconds_text(phase.start - phases[number - 2].start)
        rate = of.rate(phase.volume / length) if length > 0 else "–"
        times = f"{phase.start:,.6f}", f"{phase.end:,.6f}"
        late: tuple[str, ...] = ("–", "–") if last else ()
        if last and (one := last[number - 1]) is not None:
            late = f"rank {one.rank}", seconds_text(one.after_median)
        table.add_row(str(number), *times, seconds_text(length), after, of.volume(phase.volume), rate, *late)
    console.print(table)
    print_rest(len(phases) - len(shown), "phase", console)


def _print_left_out(parts: PartsLeftOut, console: Console) -> None:
    count, volume = len(parts.volumes), sum(volume for _, volume in parts.volumes)
    what = f"{counted(count, f'further {KINDS_OF_KEYS[parts.by].noun}')} with {words(parts.quantity).volume(volume)}"
    console.print(Text(f"{signal_title(parts)}: {what} not analysed; raise --parts, or see --json"))


def _print_block(period: LayerPeriod, same: LayerPeriod | None, console: Console) -> None:
    """Print the curve and what explains it; of a period that is that of `same`, above, only what differs."""
    signal, result, of = period.signal, period.result, words(period.quantity)
    traffic = "" if period.traffic == "all" else f", {period.traffic} traffic"
    width = max(10, curve_width(console) - GUTTER - 2)
    resolution = signal.duration / (width * points_per_column(console.options.ascii_only))
    facts = f"  {of.volume(signal.volume)}{traffic}"
    if period.by is None:
        facts += f"; drawn as means over {seconds_text(resolution)}"
        console.print(Text.assemble((signal_title(period), "bold"), facts))
    else:
        name = shortened(printable(part_title(period.by, period.part)), max(20, console.width // 3))
        console.print(Text.assemble((f"{signal_title(period)}, {name}", "bold"), facts))
    height = _HEIGHT if period.by is None else _PART_HEIGHT
    for line in _curve(signal, result, width, height, of, console.options.ascii_only):
        console.print(line, no_wrap=True, overflow="crop", crop=bounded(console))
    # Many parts follow one another, so each says the verdict only.
    verdict = _verdict(result)
    if period.by is not None:
        details = _fit(period)
    elif same is None:
        details = _details(period)
    else:
        verdict.append(f", as {signal_title(same)}")
        details = (text for texts in (_metrics(result, of), _fit(period)) for text in texts)
    for line in (verdict, *(Text(detail, style="dim") for detail in details)):
        print_paragraph(line, console)


def _curve(
    signal: StepSignal, result: PeriodResult, width: int, height: int, of: QuantityWords, ascii_only: bool
) -> Iterator[Text]:
    averages = _averages(signal, width * points_per_column(ascii_only))
    phase, tick = "=|" if ascii_only else "▔╵"
    window = signal.window
    strips = []
    if result.phases:
        marks = interval_row(((phase.start, phase.end) for phase in result.phases), window, width, phase)
        strips.append(("phases", marks, "green"))
    ticks = list(_period_ticks(result, window, width))
    if ticks:
        strips.append(("period", tick_row(ticks, window, width, tick), "magenta"))
    yield from labelled_curve(averages, of.rate(float(averages.max())), height, window, strips, ascii_only)


def _averages(signal: StepSignal, bins: int) -> Floats:
    """Return the mean rate in `bins` equal parts of the window, from the exact volume, float64 (bins,)."""
    volume = signal.volume_until(np.linspace(*signal.window, bins + 1))
    # The first part also holds what moved in no time at the window's start.
    volume[0] = 0.0
    return np.asarray(np.maximum(np.diff(volume), 0.0) * (bins / signal.duration), np.float64)


def _period_ticks(result: PeriodResult, window: tuple[float, float], width: int) -> Iterator[float]:
    """Give the times of an even beat at the period of each regime, from its first phase on."""
    stretches = [(regime.start, regime.end, regime.period) for regime in result.regimes]
    if not stretches and result.period is not None:
        stretches = [(*window, result.period)]
    closest = _CLOSEST_TICKS * (window[1] - window[0]) / width
    for start, end, period in stretches:
        if period < closest:
            continue
        first = next((phase.start for phase in result.phases if start <= phase.start <= end), start)
        yield from np.arange(first, min(end, window[1]), period).tolist()


def _verdict(result: PeriodResult) -> Text:
    if not result.periodic or result.period is None:
        return Text.assemble(("no period", "bold yellow"), f": {printable(result.reason)}")
    value = interval_text(result.period, result.period_interval)
    count = len(result.regimes)
    where = f", in {count} regimes" if count > 1 else ""
    binned = " (binned)" if result.sampling.signal == "binned" else ""
    return Text.assemble(("periodic", "bold green"), f", {value}{where}, confidence {result.confidence:.2f}{binned}")


def _details(period: LayerPeriod) -> Iterator[str]:
    result, of = period.result, words(period.quantity)
    if result.periodic:
        yield printable(result.reason)
    if period.loop is not None:
        yield printable(period.loop.text)
        yield f"by the bandwidth alone: {_verdict(period.of_signal)}"
    if result.phases:
        within = share_text(sum(phase.volume for phase in result.phases), period.signal.volume)
        text = f"{counted(len(result.phases), 'phase')} with {within} of the {of.noun}"
        # A single train of phases has been told with its distance and jitter.
        told = result.periodic and len(result.periods) == len(result.regimes) == 1
        if period.loop is None and result.recurrence is not None and not told:
            text += f", one every {seconds_text(result.recurrence)} on average"
            if result.jitter is not None:
                text += f", jitter {percent_text(result.jitter)}"
        yield text
    for other in result.periods[1:]:
        value = interval_text(other.period, other.period_interval)
        yield f"also {value}, confidence {other.confidence:.2f}, {of.volume(other.volume)}"
    yield from _regimes(result)
    yield from _metrics(result, of)
    yield from _fit(period)
    yield from _method(result, of)


def _regimes(result: PeriodResult) -> Iterator[str]:
    """Yield when which period holds, and of a single one for how much of its stretch."""
    if len(result.regimes) == 1 and result.regimes[0].valid_share is not None:
        (regime,) = result.regimes
        stretch = f"{seconds_text(regime.start)} to {seconds_text(regime.end)}"
        share = share_text(regime.valid_share or 0.0, 1)
        yield f"from {stretch}; by the sliding correlation (DFT × DWT) the period holds for {share} of it"
    if len(result.regimes) > 1:
        for regime in result.regimes[:_REGIMES_SHOWN]:
            stretch = f"{seconds_text(regime.start)} to {seconds_text(regime.end)}"
            text = f"from {stretch}: every {seconds_text(regime.period)}"
            if regime.phases is not None:
                text += f", {counted(regime.phases, 'phase')}"
            if regime.confidence is not None:
                text += f", confidence {regime.confidence:.2f}"
            if regime.valid_share is not None:
                text += f", holds for {share_text(regime.valid_share, 1)} of it"
            yield text
        if len(result.regimes) > _REGIMES_SHOWN:
            yield f"and {counted(len(result.regimes) - _REGIMES_SHOWN, 'further regime', 'further regimes')}"


def _method(result: PeriodResult, of: QuantityWords) -> Iterator[str]:
    """Yield how the period was looked for."""
    sampling, method = result.sampling, f"method {result.method}"
    if result.evidence.filter is not None:
        yield _FILTERED
        method += f" after the filter {result.evidence.filter} Hz"
    if result.on_bins and sampling.fs is not None:
        chosen = " (automatic)" if sampling.automatic else ""
        text = f"{method}, {counted(sampling.samples, 'bin')} at {frequency_text(sampling.fs)}{chosen}"
        if sampling.abstraction_error is not None:
            text += f", abstraction error {percent_text(sampling.abstraction_error)} of the {of.noun}"
        yield text
    else:
        yield f"{method}, on the {sampling.signal} signal"


def _fit(period: LayerPeriod) -> Iterator[str]:
    if period.fit is not None:
        yield from fit_lines(period.fit, words(period.quantity))


def _metrics(result: PeriodResult, of: QuantityWords) -> Iterator[str]:
    metrics = result.metrics
    if metrics is None:
        return
    parts = []
    if metrics.r_io is not None and metrics.b_io is not None:
        share, rate = share_text(metrics.r_io, 1), of.rate(metrics.b_io)
        parts.append(f"above the mean rate for {share} of the time (R_IO), at {rate} there (B_IO)")
    if metrics.volume_per_period is not None:
        parts.append(f"{of.volume(metrics.volume_per_period)} a period")
    if metrics.periodicity_score is not None:
        parts.append(f"periodicity score {metrics.periodicity_score:.2f} (1: all periods alike)")
    if parts:
        yield ", ".join(parts)
