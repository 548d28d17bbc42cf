"""How the quantities that a signal can measure are called, and how their rates and volumes are written."""

from collections.abc import Callable
from typing import Final, NamedTuple

from ..analysis.comparison.layer_periods import LayerPeriod, PartsLeftOut
from ..model.quantities import bytes_text, counted, event_rate_text, level_text, rate_text, seconds_text
from ..model.text import printable


class QuantityWords(NamedTuple):
    """Words for one quantity.

    Attributes
    ----------
    title : str
        What follows the layer and the direction; empty for bandwidth, the usual one.
    noun : str
        What a share of the volume is a share of.
    nothing : str
        The beginning of a sentence that says there is none.
    rate, volume : callable
        Write a value of the signal, and its integral over time.
    """

    title: str
    noun: str
    nothing: str
    rate: Callable[[float], str]
    volume: Callable[[float], str]


def words(quantity: str) -> QuantityWords:
    """Return the words for one of `iostrata.layers.selection.directions.QUANTITIES`."""
    return _WORDS[quantity]


def signal_title(period: LayerPeriod | PartsLeftOut) -> str:
    """Return which signal something is about: layer, direction and, but for bandwidths, the quantity."""
    return " ".join(part for part in (printable(period.layer), period.direction, words(period.quantity).title) if part)


def _operations(volume: float) -> str:
    # A window or a phase can cut operations, which then count in proportion.
    return counted(round(volume), "operation")


def _events(volume: float) -> str:
    return counted(round(volume), "event")


def _time_under_way(volume: float) -> str:
    return f"{seconds_text(volume)} in operations"


_WORDS: Final = {
    "bandwidth": QuantityWords("", "bytes", "No bytes were moved", rate_text, bytes_text),
    "operations": QuantityWords("operations", "operations", "No operations ended", event_rate_text, _operations),
    "metadata": QuantityWords("metadata events", "events", "No metadata events happened", event_rate_text, _events),
    "in-flight": QuantityWords(
        "operations in flight", "time in operations", "No operation took time", level_text, _time_under_way
    ),
}
