"""Findings about the sizes of requests."""

from collections.abc import Iterator
from itertools import product
from typing import Final

import numpy as np

from ...layers.flow.flow import Flow
from ...layers.flow.relations import SizeLimits
from ...layers.selection.directions import DIRECTIONS, modes_of
from ...model.arrays import Mask
from ...model.codes import IoFlag
from ...model.quantities import bytes_text, counted, percent_text, seconds_text
from ...model.sums import NOBODY
from .better_cases import gain_of_larger
from .counted import CountedFacts, pattern_text
from .facts import KIB, Facts, Match, ends_of
from .rule import finding
from .streams import Stalled, stalled

_CUT: Final = 4
"""Small requests of a lower layer for each of those above, from which on these are cut, and not small by themselves."""
_APART: Final = (
    "What is asked for by one call lies apart in the file, and no buffer cuts it: make its blocks larger (of the data "
    "type, of the file view, of the hyperslab); or let ranks whose blocks lie side by side move them together: call "
    "collectively (MPI_File_write_all, H5FD_MPIO_COLLECTIVE), and measure both ways."
)
_IN_PARTS: Final = "are cut into small parts that lie apart in the file; parts that lie together"
_BY_BUFFER: Final = "are cut into small parts, one after the other; a larger buffer"
_AS_MANY: Final = 1.25
"""Times the small requests of a higher layer up to which those of a lower one are told with them."""


def _small_requests_counted(
    counters: CountedFacts, *, size: float, operations: float, least_share: float
) -> Iterator[Match]:
    """Find them by classes of sizes. What ranks ask for together is put together, however small its parts are."""
    for group in (one.asked for one in counters.groups):
        count, below = group.operations, group.small(size)
        if count < operations or below < least_share * count or 2 * group.collective_share >= 1:
            continue
        yield counters.match(
            group,
            f"{percent_text(below / count)} of {count:,} {group.layer} {group.direction}s ask for less than "
            f"{int(size) // KIB} KiB{pattern_text(group)}",
            {"operations": count, "small_operations": below, "share": below / count, "limit": size},
            share=group.share_of_time(below, size),
        )


@finding(
    limits={"small": "size"},
    units={"median_request": "byte", "limit": "byte"},
    explained_by={"read-amplification": 0.9, "synchronous-writes": 0.9},
    counted=_small_requests_counted,
)
def small_requests(
    facts: Facts, *, size: float = SizeLimits.small, operations: float = 100, least_share: float = 0.6
) -> Iterator[Match]:
    """Most requests are smaller than 64 KiB.

    Parameters
    ----------
    size : byte
        Below, the latency of a call takes longer than moving its bytes.
    operations : count
        A few take no time that matters.
    least_share : share
        Of the requests that ask for bytes: fewer are not most of them.

    Notes
    -----
    :In short: {direction} are small; larger ones.
    :Why: Each has the same latency, whatever its size.
    :How it is measured: Sizes asked for, of all operations of a layer and direction that ask for bytes; but not of
        non-blocking ones that a library puts together to larger ones. Cost is the time in their calls, without what
        few of them take longer than others of their size: that is no matter of the size (``slow-operations``). Where
        half of that is in a hundred of them or more, it is part of the cost, and of the most to gain.
        Where each becomes four smaller ones or more in the next layer, as by a file's view, those are told instead.
    :When it is wrong: A buffer below may merge them: look at the layer beneath.
    :What helps: Writes: collect data in a buffer (setvbuf, H5Pset_meta_block_size, nc__enddef with padding) and write
        more per call. Reads: larger pieces at once (setvbuf, H5Pset_sieve_buf_size, H5Pset_chunk_cache). Or call
        collectively so that the library can merge, and measure both ways: where ranks share processors, to exchange the
        data may take longer.
    """
    cells, few = facts.cells, stalled(facts, size)
    told: dict[str, int] = {}
    for (row, layer), direction in product(enumerate(cells.layers), DIRECTIONS):
        sized, requests = cells.of(layer, direction) & cells.sized, facts.sums.requests.get((row, direction))
        # Ranks without bytes in a collective call, and reads at the end of a file, ask for nothing: they do not count.
        empty = 0 if requests is None else requests.zeros
        small, count = sized & cells.small, cells.operations(sized) - empty
        below = cells.operations(small) - empty
        if requests is None or count < max(operations, empty) or below < least_share * count:
            continue
        if _merged_meanwhile(facts, layer, direction, small, least_share) or _are_cut(facts, layer, direction, small):
            continue
        parts, in_short, advice = _cut_above(facts, layer, direction, small)
        if below <= _AS_MANY * told.get(direction, 0):
            # They are what calls of a higher layer become.
            continue
        told[direction] = below
        (median,) = requests.at([empty + (count - 1) // 2])
        whole, moving = facts.longest_in_calls_s(layer, direction, small), facts.longest_s(small)
        # What calls of a higher layer lose, those in them do as well.
        above = (few.get((one, direction)) for one in reversed(cells.layers[: row + 1]))
        lost, spread, slow = next(filter(None, above), Stalled(0.0, False, 0))
        lost = min(whole, lost)
        cost = whole - lost
        apart = _longer_text(lost, (slow, count) if (layer, direction) in few else None) if lost else ""
        yield Match(
            layer,
            f"{percent_text(below / count)} of {count:,} {layer} {direction}s"
            f"{' that ask for bytes' if empty else ''} ask for less than {int(size) // KIB} KiB; "
            f"the median is {bytes_text(median)}{parts}{apart}",
            {
                "direction": direction,
                "operations": count,
                "small_operations": below,
                "share": below / count,
                "small_bytes": cells.bytes(small),
                "median_request": median,
                "limit": size,
                **in_short,
            },
            cells=small,
            advice=advice,
            cost_s=whole if spread else cost,
            gain=gain_of_larger(facts, row, modes_of(direction)[0], size, (cost, whole if spread else cost, moving)),
        )


def _longer_text(lost: float, mine: tuple[int, int] | None) -> str:
    """Return how much longer than usual few calls take: so many of all that are `mine`, or such of a layer above."""
    who = "few of the calls above" if mine is None else f"{mine[0]:,} of them ({percent_text(mine[0] / mine[1])})"
    verb = "takes" if mine is not None and mine[0] == 1 else "take"
    return f"; {who} {verb} {seconds_text(lost)} more than usual"


def _are_cut(facts: Facts, layer: str, direction: str, small: Mask) -> bool:
    """Tell whether each of the `small` requests becomes several smaller ones in the next layer."""
    cells = facts.cells
    parts = [_parts_of(facts, flow, small) & cells.small for flow in facts.adjacent(direction) if flow.upper == layer]
    return any(cells.operations(one) >= _CUT * cells.operations(small) for one in parts)


def _cut_above(facts: Facts, layer: str, direction: str, small: Mask) -> tuple[str, dict[str, str], str]:
    """Return what `small` requests are parts of, in words, that in short, and advice; empty where it is no less."""
    cells = facts.cells
    for flow in facts.adjacent(direction):
        parts = _parts_of(facts, flow, flow.parts["upper"]) & small if flow.lower == layer else NOBODY
        above = np.unique(cells.attribution.parent[parts]) if parts.any() else NOBODY
        count = cells.operations(above)
        if count and cells.operations(parts) >= max(_CUT * count, cells.operations(small) / 2):
            each = bytes_text(cells.bytes(above) / count)
            text = f"; they are parts of {counted(count, f'{flow.upper} {direction}')} of {each} on average"
            how, advice = (_IN_PARTS, _APART) if _lie_apart(flow) else (_BY_BUFFER, "")
            return text, {"in_short": f"{direction}s {how}"}, advice
    return "", {}, ""


def _lie_apart(flow: Flow) -> bool:
    """Tell whether most of what a flow moves below does not follow one another in the file."""
    access = flow.lower_access
    return access.strided + access.random > access.sequential


def _parts_of(facts: Facts, flow: Flow, upper: Mask) -> Mask:
    """Return which operations of a flow's lower layer are in some of its upper one."""
    above = facts.cells.attribution.parent
    return np.asarray(flow.parts["lower"] & (above >= 0) & upper[above])


def _merged_meanwhile(facts: Facts, layer: str, direction: str, small: Mask, least_share: float) -> bool:
    """Tell whether most `small` requests are non-blocking, and those below are not small: a call takes no time then."""
    cells = facts.cells
    waiting = small & ((cells.flags & np.uint32(IoFlag.NON_BLOCKING)) > 0)
    if 2 * cells.operations(waiting) <= cells.operations(small):
        return False
    below = np.zeros(len(small), np.bool_)
    for flow in facts.adjacent(direction):
        below |= flow.parts["lower"] & cells.sized & cells.moving & (flow.upper == layer)
    return bool(below.any()) and cells.operations(below & cells.small) < least_share * cells.operations(below)


def _split_requests_counted(
    counters: CountedFacts, *, request: float, pieces: float, operations: float
) -> Iterator[Match]:
    """Find MPI-IO calls on files that reach POSIX in more and smaller pieces."""
    for direction in DIRECTIONS:
        found = counters.pair("MPI-IO", "POSIX", direction)
        if found is None:
            continue
        upper, lower = found
        above, below = upper.operations, lower.operations
        few = above < operations or upper.bytes < request * above
        if few or below < pieces * above or lower.bytes >= request * below:
            continue
        yield counters.match(
            upper,
            f"POSIX does {below:,} {direction}s of {bytes_text(lower.bytes / below)} on average{pattern_text(lower)} "
            f"for {above:,} MPI-IO {direction}s of {bytes_text(upper.bytes / above)}",
            {"upper": "MPI-IO", "lower": "POSIX", "upper_operations": above, "pieces": below},
            rows=lower.rows,
            share=1 - above / below,
        )


@finding(
    may_be_meant=True,
    limits={"split": "request", "pieces": "pieces"},
    units={
        **dict.fromkeys(("pieces", "placed_pieces", "aligned_pieces"), "count"),
        **dict.fromkeys(("median_request", "largest_piece"), "byte"),
    },
    counted=_split_requests_counted,
)
def split_requests(
    facts: Facts,
    *,
    request: float = SizeLimits.split,  # noqa: ARG001 - applied to each operation while they are summed
    pieces: float = SizeLimits.pieces,  # noqa: ARG001
    least_share: float = 0.1,
    operations: float = 4,
) -> Iterator[Match]:
    """Large requests become several below.

    Parameters
    ----------
    request : byte
        Smaller ones are small requests, whole or in pieces.
    pieces : count
        One piece is no split.
    least_share : share
        Of the bytes above: below, most of them arrive whole.
    operations : count
        A few take no time that matters.

    Notes
    -----
    :Why: A buffer or a stripe cuts them, or gaps in the file; each piece has its latency.
    :How it is measured: Operations of the lower layer inside one of the upper, unless one of them moves 90 % of it.
        Where most of them do not follow one another in the file, gaps cut them. Cost is what the pieces take.
    :When it is wrong: Pieces that go to several servers at once are meant to be.
    :What helps: Raise the buffer that cuts them: OMPI_MCA_io_ompio_bytes_per_agg of OMPIO, ROMIO's cb_buffer_size and
        ind_wr_buffer_size, H5Pset_buffer; let requests begin at blocks of the file: lfs setstripe -S, H5Pset_alignment.
        Where gaps cut them, no buffer does: larger blocks of the file view, data type or hyperslab, or collective
        calls.
    """
    cells = facts.cells
    for flow in facts.adjacent("write", "read"):
        split = flow.parts["upper"] & cells.split(cells.layer_row(flow.lower))
        count = cells.operations(split)
        if count < operations or cells.bytes(split) < least_share * flow.upper_bytes:
            continue
        sums, median, apart = flow.sums, flow.sums.split.median(), _lie_apart(flow)
        of_known = f" of {sums.placed:,} whose offset is known" if sums.placed < sums.pieces else " of them"
        aligned = f"; {sums.aligned:,}{of_known} begin on a 4 KiB boundary" if sums.placed else ""
        yield Match(
            flow.upper,
            f"{flow.lower} did {count:,} {flow.upper} {flow.direction}s of {bytes_text(median)} (median) in "
            f"{sums.pieces:,} pieces of at most {bytes_text(sums.largest)}"
            f"{', most of which do not follow one another in the file' if apart else ''}{aligned}",
            {
                **ends_of(flow),
                "split_operations": count,
                "pieces": sums.pieces,
                "placed_pieces": sums.placed,
                "aligned_pieces": sums.aligned,
                "median_request": median,
                "largest_piece": sums.largest,
            },
            cells=split,
            cost_s=facts.longest_s(_parts_of(facts, flow, split)),
            advice=_APART if apart else "",
        )
