"""The collective calls of each layer over time: how many ranks take part, and how many move the bytes below."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ....layers.flow.flow import Flow
from ....layers.statistics.distribution import distribution
from ...encoding import packed
from .limits import Limits


def collective_calls(flows: Iterable[Flow], limits: Limits) -> list[dict[str, Any]]:
    """Return the collective calls of each pair of neighbouring layers and direction as the page holds them.

    Of more calls than the limit, those that begin one after the other are put together: from the first begin to the
    last end, with the fewest and the most ranks. `start` and `end` are seconds from the trace's start.
    """
    found = [flow for flow in flows if flow.adjacent and len(flow.collectives)]
    return [_of_flow(flow, limits.calls) for flow in found[: limits.curves]]


def _of_flow(flow: Flow, most: int) -> dict[str, Any]:
    calls, second = flow.collectives, flow.cells.window.ticks_per_second
    together = -(-len(calls) // most)
    first = np.arange(0, len(calls), together)
    return {
        "upper": flow.upper,
        "lower": flow.lower,
        "direction": flow.direction,
        "calls": len(calls),
        "alone_calls": int((calls.movers == 1).sum()),
        "participants": distribution(calls.participants).to_dict(),
        "movers": distribution(calls.movers).to_dict(),
        "bytes": float(calls.bytes.sum()),
        "together": together,
        "start": packed(calls.begin[first] / second, "f8"),
        "end": packed(np.maximum.reduceat(calls.end, first) / second, "f8"),
        "participants_most": packed(np.maximum.reduceat(calls.participants, first), "u4"),
        "movers_least": packed(np.minimum.reduceat(calls.movers, first), "u4"),
        "movers_most": packed(np.maximum.reduceat(calls.movers, first), "u4"),
        "call_bytes": packed(np.add.reduceat(calls.bytes, first), "f4"),
    }
