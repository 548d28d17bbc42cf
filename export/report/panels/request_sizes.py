"""Histograms of request sizes, one a layer and direction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....layers.layer import Layer
from ....model.arrays import Floats
from ....model.quantities import bytes_text, counted, share_text
from ...page.document import Axis, Beside, Chart, PageBlock, Paragraph, Series

_FEWEST_BINS: Final = 8
"""A single bar as wide as the picture would look like much."""
_UNITS: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


@dataclass(frozen=True, eq=False)
class RequestSizes:
    """How many operations requested how many bytes, by powers of two.

    The bin ``2^k`` holds requests of 2^k to 2^(k+1) − 1 bytes; requests of 0 bytes and those whose size the trace does
    not know are counted separately. Operations count whole, also where the window cuts them, as in ``request_bytes``.
    """

    layer: str
    direction: str
    exponents: npt.NDArray[np.int64]
    operations: npt.NDArray[np.int64]
    bytes: Floats
    empty_operations: int
    unknown_operations: int


def request_sizes(layer: Layer, direction: str) -> RequestSizes:
    """Return the request sizes of a layer in a direction."""
    sizes, often = layer.request_counts(direction).ordered()
    sized = sizes > 0
    exponent = _floor_log2(sizes[sized])
    counts = np.bincount(exponent, weights=often[sized], minlength=64).astype(np.int64)
    weights = np.asarray(often[sized] * sizes[sized], np.float64)
    volume: Floats = np.bincount(exponent, weights=weights, minlength=64).astype(np.float64)
    used = np.flatnonzero(counts)
    unknown = layer.statistics(direction).operations - int(often.sum())
    empty = int(often[~sized].sum())
    return RequestSizes(layer.name, direction, used, counts[used], volume[used], empty, unknown)


def size_charts(found: Sequence[RequestSizes]) -> list[PageBlock]:
    """Return a picture of each, all on one axis, and a sentence on those of which no size is known."""
    sized = [one for one in found if len(one.exponents)]
    if not found:
        return []
    text = (
        "Filled: number of operations by the bytes that they requested, in powers of two. Outlined: their bytes. Each "
        "picture has its own height; all have the same axis."
    )
    blocks: list[PageBlock] = [Paragraph(text)]
    if sized:
        lowest = int(min(one.exponents.min() for one in sized))
        highest = max(int(max(one.exponents.max() for one in sized)), lowest + _FEWEST_BINS - 2)
        blocks.append(Beside([_chart(one, lowest, highest) for one in sized]))
    unknown = [f"{one.layer} {one.direction}" for one in found if not len(one.exponents)]
    if unknown:
        blocks.append(Paragraph(f"The trace does not know the request sizes of {', '.join(unknown)}.", muted=True))
    return blocks


def _chart(one: RequestSizes, lowest: int, highest: int) -> Chart:
    """Return a histogram; requests of 0 bytes stand left of the lowest bin."""
    exponents, operations, volumes = (column.tolist() for column in (one.exponents, one.operations, one.bytes))
    ranges = [f"{_binary_text(exponent)} to below {_binary_text(exponent + 1)}" for exponent in exponents]
    if one.empty_operations:
        exponents, operations = [lowest - 1, *exponents], [one.empty_operations, *operations]
        volumes, ranges = [0.0, *volumes], ["0 B", *ranges]
    total, most, largest = sum(operations), max(operations), max(1.0, *volumes)
    label = f"{one.layer} {one.direction}"
    texts = [
        f"{label}, requests of {sizes}: {counted(count, 'operation')}, {share_text(count, total)}; {bytes_text(volume)}"
        for sizes, count, volume in zip(ranges, operations, volumes, strict=True)
    ]
    low, high = 2.0 ** np.array(exponents), 2.0 ** (np.array(exponents) + 1)
    bottom, filled, outlined = np.zeros(len(low)), np.array(operations) / most, np.array(volumes) / largest
    bars = Series("boxes", one.direction, low, bottom, high, filled, texts=texts, gap=1)
    some = outlined > 0.005
    outlines = Series("boxes", "outline", low[some], bottom[some], high[some], outlined[some], gap=1.5)
    caption = [
        f"{counted(total, 'request')} of known size",
        f"highest bar: {most:,} filled, {bytes_text(largest)} outlined",
    ]
    if one.unknown_operations:
        caption.append(f"{one.unknown_operations:,} of unknown size")
    x = Axis("binary", scale="log2", ends=(2.0 ** (lowest - 1), 2.0 ** (highest + 1)))
    return Chart(label, x, Axis(), [bars, outlines], ", ".join(caption), "request", 90, most=340, heading=True)


def _binary_text(exponent: int) -> str:
    step = min(6, exponent // 10)
    return f"{2 ** (exponent - 10 * step)} {_UNITS[step]}B"


def _floor_log2(sizes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the exponent of the largest power of two that each size reaches; float64 rounds 2^k − 1 up from 2^53."""
    edges = np.uint64(1) << np.arange(64, dtype=np.uint64)
    return (np.searchsorted(edges, sizes, side="right") - 1).astype(np.int64)
