"""Histograms of request sizes, one a layer and direction."""

from typing import Any

import numpy as np

from ....layers.layer import Layer


def size_histogram(layer: Layer, direction: str) -> dict[str, Any]:
    """Return how many operations requested how many bytes, by powers of two.

    The bin ``2^k`` holds requests of 2^k to 2^(k+1) − 1 bytes; requests of 0 bytes and those whose size the trace does
    not know are counted separately. Operations count whole, also where the window cuts them, as in ``request_bytes``.
    """
    sizes, often = layer.request_counts(direction).ordered()
    sized = sizes > 0
    exponent = _floor_log2(sizes[sized])
    counts = np.bincount(exponent, weights=often[sized], minlength=64).astype(np.int64)
    volume = np.bincount(exponent, weights=often[sized] * sizes[sized].astype(np.float64), minlength=64)
    used = np.flatnonzero(counts)
    return {
        "layer": layer.name,
        "direction": direction,
        "exponents": used.tolist(),
        "operations": counts[used].tolist(),
        "bytes": volume[used].tolist(),
        "empty_operations": int(often[~sized].sum()),
        "unknown_operations": layer.statistics(direction).operations - int(often.sum()),
    }


def _floor_log2(sizes: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the exponent of the largest power of two that each size reaches; float64 rounds 2^k − 1 up from 2^53."""
    edges = np.uint64(1) << np.arange(64, dtype=np.uint64)
    return (np.searchsorted(edges, sizes, side="right") - 1).astype(np.int64)
