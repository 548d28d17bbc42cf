"""Findings about bytes that a lower layer moves beyond what it was asked for."""

from collections.abc import Iterator

import numpy as np

from ...layers.flow.flow import Flow
from ...model.arrays import Mask, column_at
from ...model.quantities import bytes_text, counted, named_ranks, seconds_text
from .counted import LIBRARIES, CountedFacts
from .facts import KIB, MIB, MUCH_OF_RUN, Facts, Gain, Match
from .rule import finding

_UNITS = {"amplification": "times", "attributed_amplification": "times", "steps": "times"}
_NEEDLESS = 2.0
"""Times as many bytes below from which on the time of calls above goes by them, and not by what was asked for."""
_DONE = {"write": "written", "read": "read"}
_ONCE = "that share of the time that the bytes take which are {} needlessly, of those below alone"
_IN_PARTS = (
    "reads take parts of chunks that are read and unpacked whole; chunks as calls read, or a cache that holds them,"
)
_UNITS |= {"bytes_read_inside_writes": "byte"}


def _written_counted(counters: CountedFacts, *, amplification: float, extra_bytes: float) -> Iterator[Match]:
    return _amplified_counted(counters, "write", amplification, extra_bytes)


def _read_counted(counters: CountedFacts, *, amplification: float, extra_bytes: float) -> Iterator[Match]:
    return _amplified_counted(counters, "read", amplification, extra_bytes)


def _amplified_counted(counters: CountedFacts, direction: str, least: float, extra_bytes: float) -> Iterator[Match]:
    """Find files of which POSIX moves more than the uppermost library asks for."""
    for library in LIBRARIES:
        found = counters.pair(library, "POSIX", direction)
        top = found[0].own if found else None
        if found is None or top is None or not top.rows.any():
            continue
        # What is read of files that are written may be read for the writes.
        written = counters.on_files_of(top.rows & (counters.counters.writes > 0)) & (direction == "read")
        top, below = top.only(~written), found[1].only(counters.on_files_of(top.rows) & ~written)
        asked, moved = top.bytes, below.bytes
        if not asked or moved - asked < extra_bytes or moved / asked < least:
            continue
        yield counters.match(
            top,
            f"POSIX has {_DONE[direction]} {bytes_text(moved)} for {bytes_text(asked)} of {library}: "
            f"{_times(moved / asked)}",
            {
                "upper": library,
                "lower": "POSIX",
                "upper_bytes": asked,
                "lower_bytes": moved,
                "extra_bytes": moved - asked,
                "amplification": moved / asked,
            },
            rows=below.rows,
            share=1 - asked / moved,
        )


def _times(amplification: float) -> str:
    return f"{amplification:,.{2 if amplification < 100 else 0}f} times"


@finding(units=_UNITS, counted=_written_counted)
def write_amplification(facts: Facts, *, amplification: float = 1.1, extra_bytes: float = MIB) -> Iterator[Match]:
    """More bytes are written below than asked for above, at least 1.1 times and 1 MiB more.

    Parameters
    ----------
    amplification : times
        Headers and metadata of a format add some per cent, which no setting avoids.
    extra_bytes : byte
        Less is written in no time that matters.

    Notes
    -----
    :In short: {amplification:,.1f} times as much is written below as asked for above; writing each byte once.
    :Why: Each byte too many costs time at the storage, and may be read and written again.
    :How it is measured: Bytes by descent: all writes through handles below the upper layer's, over the bytes of the
        upper layer, but for files that the upper layer opens and never writes; cost is their share of the lower layer's
        time. From twice as many inside the calls on, it is that share of the calls' time, as what is moved needlessly
        is packed, filtered and waited for, too. By counters, bytes of POSIX against those of the uppermost library on
        the same files.
    :When it is wrong: A library that buffers may write now what was asked for before the window; use the whole run.
    :What helps: See which pair of layers adds the bytes. Fill values: nc_set_fill(NC_NOFILL) or
        H5Pset_fill_time(H5D_FILL_TIME_NEVER). Chunks: choose H5Pset_chunk so that a call writes whole chunks, or a
        cache that holds those it writes in part (H5Pset_chunk_cache, nc_set_chunk_cache). Data sieving: set ROMIO's
        hint romio_ds_write=disable.
    """
    return _amplified(facts, "write", amplification, extra_bytes)


@finding(units=_UNITS, counted=_read_counted)
def read_amplification(facts: Facts, *, amplification: float = 1.1, extra_bytes: float = MIB) -> Iterator[Match]:
    """More bytes are read below than asked for above, at least 1.1 times and 1 MiB more.

    Reads inside writes are data sieving and do not count.

    Parameters
    ----------
    amplification : times
        Headers and metadata of a format add some per cent, which no setting avoids.
    extra_bytes : byte
        Less is read in no time that matters.

    Notes
    -----
    :In short: more is read below than asked for above; reading only that.
    :Why: Whole chunks, or all that a buffer holds, are read for a part of them, or the same again.
    :How it is measured: As for ``write-amplification``; by counters, of files that are not written.
    :When it is wrong: Read-ahead of a library that pays off later looks the same.
    :What helps: Read by one call what lies together in the file; read whole chunks and enlarge the chunk cache
        (nc_set_chunk_cache, H5Pset_chunk_cache); set ROMIO's hint romio_ds_read=disable, or read collectively.
    """
    return _amplified(facts, "read", amplification, extra_bytes)


def _amplified(facts: Facts, direction: str, least: float, extra_bytes: float) -> Iterator[Match]:
    """Find layers for which more is moved at the bottom than at their top."""
    cells = facts.cells
    for flow in facts.to_bottom(direction):
        inside = _inside_writes(facts, flow) if direction == "read" else np.zeros(len(cells.handle), np.bool_)
        counted_below = flow.parts["lower"] & ~inside & ~_beneath(facts, flow)
        aside, asked, moved = cells.bytes(inside), flow.upper_bytes, cells.bytes(counted_below)
        if not asked or moved - asked < extra_bytes or moved / asked < least:
            continue
        beside = f", beside {bytes_text(aside)} read inside writes" if aside else ""
        hidden = cells.bytes(flow.parts["hidden"] & counted_below)
        outside = f"; {bytes_text(hidden)} of it outside of {flow.upper} operations" if hidden else ""
        steps = [
            {"upper": step.upper, "lower": step.lower, "amplification": step.amplification}
            for step in facts.adjacent(direction)
            if step.upper_bytes and _on_the_way(facts, flow, step)
        ]
        cost = (1 - asked / moved) * facts.longest_s(counted_below)
        in_calls, done = needless_share(flow) * facts.longest_s(flow.parts["upper"]), _DONE[direction]
        # A library of a format takes longer for what it reads than to read it.
        works = direction == "read" and in_calls >= _NEEDLESS * cost and flow.upper in facts.sums.formats
        outside += f"; to read that takes {seconds_text(cost)} at most, the calls {seconds_text(in_calls)}" * works
        yield Match(
            flow.upper,
            f"{flow.lower} has {done} {bytes_text(moved)} for {bytes_text(asked)} of {flow.upper}{beside}: "
            f"{_times(moved / asked)}{outside}",
            {
                "upper": flow.upper,
                "lower": flow.lower,
                "upper_bytes": asked,
                "lower_bytes": moved + aside,
                "extra_bytes": moved - asked,
                "amplification": moved / asked,
                "attributed_amplification": flow.attributed_amplification,
                "hidden_bytes": hidden,
                "bytes_read_inside_writes": aside,
                **({"in_short": _IN_PARTS} if works else {}),
                "steps": steps,
            },
            cells=counted_below,
            cost_s=max(cost, in_calls),
            gain=Gain((cost, in_calls), f"{_ONCE.format(done)} or of the calls of {flow.upper}")
            if in_calls > cost
            else None,
        )


def needless_share(flow: Flow) -> float:
    """Return which share of the bytes that calls of the upper layer move below nobody asked for, 0 below a half."""
    times = flow.attributed_amplification or 0.0
    return 1 - 1 / times if times >= _NEEDLESS else 0.0


def _on_the_way(facts: Facts, flow: Flow, step: Flow) -> bool:
    """Tell whether what a flow moved passed through the two layers of a step."""
    cells = facts.cells
    top, bottom, upper, lower = (cells.layer_row(one) for one in (flow.upper, flow.lower, step.upper, step.lower))
    starts = upper == top or bool(cells.descends(top, upper).any())
    ends = lower == bottom or bool(cells.descends(lower, bottom).any())
    return starts and ends


def _beneath(facts: Facts, flow: Flow) -> Mask:
    """Return which lower operations are on files that the upper layer opens and does not move that way at all.

    There the program goes past it, such as by the descriptor of a stream of ISO C.
    """
    cells = facts.cells
    above = cells.ancestor_handle_in(cells.layer_row(flow.upper))
    files = column_at(facts.definitions.handles.file, above)
    return ~np.isin(files, cells.file[flow.parts["upper"]])


def _inside_writes(facts: Facts, flow: Flow) -> Mask:
    """Return which of the flow's lower reads ran inside a write of any higher layer: data sieving."""
    cells = facts.cells
    writes = cells.of_direction("write")
    inside = np.zeros(len(writes), np.bool_)
    above = cells.attribution.parent
    while (known := above >= 0).any():
        inside[known] |= writes[above[known]]
        above = np.where(known, cells.attribution.parent[above], -1)
    return np.asarray(inside & flow.parts["lower"])


def _sieving_counted(counters: CountedFacts, *, least_bytes: float) -> Iterator[Match]:
    """Find files that libraries only write, of which POSIX reads: many bytes, or for long where there are none yet."""
    found = {(one.layer, one.direction): one for one in counters.groups}
    upper, lower = found.get(("MPI-IO", "write")), found.get(("POSIX", "read"))
    if upper is None or lower is None:
        return
    part = lower.only(counters.only_written)
    if part.bytes >= least_bytes or counters.longest(part.rows, "read")[0] > MUCH_OF_RUN * counters.run_s:
        yield counters.match(
            upper,
            f"MPI-IO only writes, and POSIX reads {bytes_text(part.bytes)} in {counted(part.operations, 'operation')}: "
            "blocks are read, changed and written back",
            {"upper": "MPI-IO", "lower": "POSIX", "read_bytes": part.bytes, "read_operations": part.operations},
            rows=part.rows,
            kinds=("read",),
        )


@finding(units={"share_of_written": "share"}, counted=_sieving_counted)
def data_sieving(facts: Facts, *, least_bytes: float = 64 * KIB) -> Iterator[Match]:
    """Reads run inside writes.

    Parameters
    ----------
    least_bytes : byte
        A library reads its own header inside a write, too.

    Notes
    -----
    :In short: blocks are read, changed and written back; writing without gaps.
    :Why: A library reads a block, changes part of it and writes it back, under a lock.
    :How it is measured: Reads of the lower layer attributed to writes of the upper one; by counters, reads of files
        that the upper one only writes.
    :When it is wrong: A library that reads its own header inside a write is reported as well; mind the bytes.
    :What helps: Write without gaps; write collectively; let a call write whole chunks of HDF5, or a cache hold those it
        writes in part (H5Pset_chunk_cache); set ROMIO's hint romio_ds_write=disable; a larger ind_wr_buffer_size makes
        fewer blocks.
    """
    for flow in facts.adjacent("write"):
        read = flow.against_bytes
        if read < least_bytes:
            continue
        where = facts.where(flow.parts["against"])
        share = read / flow.lower_bytes if flow.lower_bytes else None
        extra = flow.lower_bytes - flow.upper_bytes
        more = f" and {bytes_text(extra)} more written than {flow.upper} asked for" if extra > 0 else ""
        yield Match(
            flow.upper,
            f"{flow.upper} writes made {flow.lower} read {bytes_text(read)} in "
            f"{counted(flow.against_operations, 'operation')} by {named_ranks(where['ranks'])}{more}: "
            "blocks are read, changed and written back",
            {
                "upper": flow.upper,
                "lower": flow.lower,
                "read_bytes": read,
                "read_operations": flow.against_operations,
                "extra_written_bytes": extra,
                "share_of_written": share,
            },
            cells=flow.parts["against"],
            where=where,
        )
