"""Findings about what a library does to the bytes themselves."""

from collections.abc import Iterator

from ...layers.flow.flow import Flow
from ...model.quantities import bytes_text, percent_text, seconds_text
from .calls import idle_below
from .facts import MIB, Facts, Gain, Match, ends_of
from .rule import finding

_AS_THEY_ARE = ("MPI-IO", "ISOC")
"""Layers that never change a byte."""
_DONE = {"write": "compressed", "read": "decompressed"}
_FASTER = "a faster filter, a lower level or none"
_IN_PARTS = {"wrong": "change parts of compressed chunks", "instead": "whole chunks, or a cache that holds them,"}
_WHOLE_CHUNKS = (
    "Let each call write whole chunks, or let chunks be as calls write (H5Pset_chunk, nc_def_var_chunking); or let a "
    "cache hold all that are written in part (H5Pset_chunk_cache, nc_set_chunk_cache): a chunk that it does not hold "
    "is read, decompressed, changed, compressed and written again for each call."
)


@finding(needs=("recorded handles",), by_time=True)
def compression(
    facts: Facts,
    *,
    lower_share: float = 0.9,
    copied_bytes: float = 2048 * MIB,
    least_s: float = 0.01,
    share_of_run: float = 0.001,
) -> Iterator[Match]:
    """A layer takes time to make fewer bytes of what is written, or more of what is read.

    Parameters
    ----------
    lower_share : share
        Of the bytes above: with more of them below it is no compression.
    copied_bytes : byte
        Above, for each second in which nothing moves below: so many are copied out of a buffer, and not compressed.
    least_s : s
        Less is what libraries take to start.
    share_of_run : share
        Less makes no run faster.

    Notes
    -----
    :In short: {direction} {wrong}; {instead}.
    :Why: The processor compresses while the storage waits, on as many ranks as call.
    :How it is measured: Bytes that the next layer moves for those of the layer, all through handles below its own; time
        as for ``layer-overhead``. That a filter is at work follows from the bytes: none is recorded. What writes read
        is written again, and counts as no byte more: as where calls write parts of chunks that no cache holds.
    :When it is wrong: A library that keeps what it is given and writes it after the recording, or whose user overwrites
        bytes before they are written, moves fewer bytes as well.
    :What helps: Make it cheaper: a lower level (H5Pset_deflate, nc_def_var_deflate), a faster filter (LZ4, Zstandard,
        Blosc) behind a shuffle (H5Pset_shuffle), more ranks that compress at a time, or none where the storage is
        faster than the filter.
    """
    least = max(least_s, share_of_run * facts.run_s)
    for flow in facts.adjacent("write", "read"):
        # A look at the head of a file is by another layer than the rest.
        most = max(one.lower_bytes for one in facts.adjacent(flow.direction) if one.upper == flow.upper)
        # What is read within writes is changed and written in its place.
        again = flow.against_bytes if flow.direction == "write" else 0
        moved = _moved_below(facts, flow)
        if flow.upper in _AS_THEY_ARE or not flow.lower_bytes or flow.lower_bytes < most:
            continue
        if moved - again >= lower_share * flow.upper_bytes:
            continue
        busy, idle = idle_below(facts, flow, [flow])
        cost = min(idle, facts.longest_s(flow.parts["upper"]))
        if cost < least or max(flow.upper_bytes, moved + again) > copied_bytes * idle:
            continue
        in_parts = 2 * again > moved
        at_once = {"wrong": f"are {_DONE[flow.direction]} in the library", "instead": _FASTER}
        once = max(0.0, moved - again) / moved
        done = "as" if flow.direction == "write" else "from"
        yield Match(
            flow.upper,
            f"{flow.upper} {flow.direction}s {bytes_text(flow.upper_bytes)} {done} "
            f"{bytes_text(flow.lower_bytes)} of {flow.lower}; for {seconds_text(idle)} of the {seconds_text(busy)} "
            f"that it takes ({percent_text(idle / busy)}) nothing moves there, as a filter works on the bytes"
            f"{f'; {bytes_text(again)} of them are read again, as writes change parts of chunks' if in_parts else ''}",
            {
                **ends_of(flow),
                "upper_bytes": flow.upper_bytes,
                "lower_bytes": flow.lower_bytes,
                "lower_share": flow.lower_bytes / flow.upper_bytes,
                "idle_below_s": idle,
                **(_IN_PARTS if in_parts else at_once),
            },
            cells=flow.parts["upper"],
            cost_s=cost,
            gain=Gain((cost * (1 - once) / 2, cost), "from half of what is done again, to all of it")
            if in_parts
            else Gain((0.0, cost), "from nothing, where the bytes have to be as few, to all without a filter"),
            advice=_WHOLE_CHUNKS if in_parts else "",
        )


def _moved_below(facts: Facts, flow: Flow) -> float:
    """Return what arrives in the lower layer, or more of it in the operating system by another way.

    A look at the head of a file may go through one layer, and the rest through another.
    """
    ways = [one for one in facts.flows if (one.upper, one.direction) == (flow.upper, flow.direction)]
    return max(float(one.lower_bytes) for one in ways if one is flow or one.lower in facts.systems)
