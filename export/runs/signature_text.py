"""The terminal view of ``iostrata signature``."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...model.arrays import Floats
from ...model.quantities import bytes_text, counted, percent_text, rate_text, seconds_text
from ...model.text import printable, shortened
from ...runs.signatures.known import Deviation, Likeness
from ...runs.signatures.scaling import Scaling
from ...runs.signatures.signature import CommonBurst, SampleUse, Signature
from ..terminal.console import bounded, curve_width, fitted, print_paragraph, print_rest, table_of_numbers
from ..terminal.periods import GUTTER, interval_row, labelled_curve, points_per_column

_HEIGHT: Final = 5
_BURSTS_SHOWN: Final = 24
_NAMES_SHOWN: Final = 40


def print_signature(
    signature: Signature, what: str, left_out: tuple[SampleUse, ...], scaling: Scaling | None, console: Console
) -> None:
    """Print the signature as a curve, its bursts and what became of the samples.

    Parameters
    ----------
    what : str
        Of what it is: a layer and direction, or a log.
    left_out : tuple of SampleUse
        Runs of which there is no sample.
    scaling : Scaling or None
        How I/O follows the number of ranks, where runs have several.
    """
    used = [sample for sample in signature.samples if sample.used]
    runs = f"{len(used)} of {counted(len(signature.samples) + len(left_out), 'run')}"
    facts = f"  {bytes_text(signature.volume)} in {counted(len(signature.bursts), 'burst')}, common to {runs}"
    if (outside := signature.parameters.outside_share) is not None:
        facts += f"; {percent_text(outside)} of the bytes are outside of them"
    print_paragraph(Text.assemble((printable(what), "bold"), facts), console, indent=0)
    for line in _curve(signature, console):
        console.print(line, no_wrap=True, overflow="crop", crop=bounded(console))
    if signature.bursts:
        console.print()
        console.print(
            fitted(_bursts(signature.bursts[:_BURSTS_SHOWN], len(used)), console, "apart by", "centre", "runs")
        )
        print_rest(len(signature.bursts) - _BURSTS_SHOWN, "burst", console)
    else:
        text = "No burst is common to the runs: are they of one application? A lower --kappa asks fewer to agree."
        print_paragraph(text, console, indent=0)
    console.print()
    console.print(_samples(signature.samples + left_out, console.width))
    if scaling is not None:
        print_paragraph(f"Runs of several sizes, {scaling.text}.", console, indent=0)
    print_paragraph(_how(signature), console, "dim", indent=0)


def print_likeness(runs: Sequence[Likeness], what: str, console: Console) -> None:
    """Print of each run whether it is a usual one, and where it deviates."""
    usual = sum(one.typical for one in runs)
    told = Text.assemble((printable(what), "bold"), f"  {usual} of {counted(len(runs), 'run')} as usual")
    print_paragraph(told, console, indent=0)
    for one in runs:
        facts = f"{seconds_text(one.duration_s)}, {bytes_text(one.volume_bytes)} in {counted(one.bursts, 'burst')}"
        verdict = Text("as usual", "green") if one.typical else Text("deviates", "yellow")
        print_paragraph(Text.assemble(f"{printable(one.run)}  ", verdict, f"  {facts}"), console, indent=0)
        sentences = list(_sentences(one.deviations))
        for sentence in sentences[:_BURSTS_SHOWN]:
            print_paragraph(sentence, console)
        print_rest(len(sentences) - _BURSTS_SHOWN, "deviation", console)


def _sentences(deviations: Iterable[Deviation]) -> Iterator[str]:
    """Give what deviates, of bursts that deviate alike one sentence."""
    alike: dict[str, list[Deviation]] = {}
    for one in deviations:
        alike.setdefault(one.text.removeprefix(f"burst {one.burst} "), []).append(one)
    for rest, several in alike.items():
        numbers = [one.burst for one in several if one.burst is not None]
        if len(numbers) < 2:
            yield several[0].text
        elif numbers[-1] - numbers[0] < len(numbers):
            yield f"each of bursts {numbers[0]} to {numbers[-1]} {rest}"
        else:
            yield f"each of {len(numbers)} bursts from {numbers[0]} to {numbers[-1]} {rest}"


def resampled_maxima(values: Floats, count: int) -> Floats:
    """Return the largest value of each of `count` equal parts, float64 (count,): no burst is too short to be seen."""
    edges = (np.arange(count) * len(values)) // count
    return np.asarray(np.maximum.reduceat(values, edges), np.float64)


def _curve(signature: Signature, console: Console) -> list[Text]:
    ascii_only = console.options.ascii_only
    width = max(10, curve_width(console) - GUTTER - 2)
    maxima = resampled_maxima(signature.signature, width * points_per_column(ascii_only))
    window = (0.0, signature.duration_s)
    marks = interval_row(
        ((burst.start_s, burst.end_s) for burst in signature.bursts), window, width, "=" if ascii_only else "▔"
    )
    strips = [("bursts", marks, "green")] if signature.bursts else []
    return list(labelled_curve(maxima, rate_text(float(maxima.max())), _HEIGHT, window, strips, ascii_only))


def _bursts(bursts: tuple[CommonBurst, ...], runs: int) -> Table:
    table = table_of_numbers(("burst", "from", "centre", "to", "volume", "runs", "apart by"))
    for number, burst in enumerate(bursts, start=1):
        spread = max(burst.peaks_s) - min(burst.peaks_s) if burst.peaks_s else 0.0
        times = [seconds_text(time, 4) for time in (burst.start_s, burst.peak_s, burst.end_s)]
        having = f"{len(burst.samples)} of {runs}" if burst.samples else "–"
        apart = seconds_text(spread) if burst.peaks_s else "–"
        table.add_row(str(number), *times, bytes_text(burst.volume), having, apart)
    return table


def _samples(samples: tuple[SampleUse, ...], width: int) -> Table:
    table = table_of_numbers(("run", "length", "volume", "bursts", ""), names=(0, 4))
    for sample in samples[:_NAMES_SHOWN]:
        name, bursts = shortened(printable(sample.name), max(12, width // 3)), str(sample.bursts)
        dropped = Text("" if sample.used else f"dropped: {printable(sample.reason)}", style="yellow")
        numbers = seconds_text(sample.duration_s), bytes_text(sample.volume), bursts if sample.used else "–"
        table.add_row(name, *numbers, dropped)
    if len(samples) > _NAMES_SHOWN:
        table.add_row(f"and {len(samples) - _NAMES_SHOWN} more", "", "", "", "")
    return table


def _how(signature: Signature) -> str:
    chosen = signature.parameters
    how = {
        "loops": f"a burst is an iteration of a loop that {chosen.supporting_samples} runs have (κ {chosen.kappa:g})",
        "iosi": f"a burst counts where {chosen.supporting_samples} runs agree (κ {chosen.kappa:g})",
        "plain": f"without preprocessing; a burst counts where {chosen.supporting_samples} runs agree",
        "dtw": "dynamic time warping, a baseline: its bursts are those of the warped mean",
    }[chosen.method]
    level = f"wavelet level {chosen.level}, " if chosen.level else ""
    text = f"method {chosen.method}: {how}; {level}interval {seconds_text(chosen.interval_s)}"
    if chosen.background > 0:
        text += f"; {rate_text(chosen.background)} of background traffic taken off"
    return f"{text}. Apart by: between the earliest and the latest of the runs."
