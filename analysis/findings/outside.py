"""Findings about bytes that no operation above asked for, and about those that arrive nowhere below."""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from ...layers.attribution.calls.calls import Calls
from ...layers.attribution.calls.functions import FUNCTION
from ...layers.flow.balance import CAUSES, WITHOUT_PARENT, HiddenTraffic
from ...layers.flow.flow import Flow
from ...model.arrays import Mask
from ...model.keyed import KeyedSums
from ...model.quantities import bytes_text, joined, named_ranks, percent_text
from .facts import KIB, Facts, Gain, Match
from .rule import finding

_FILLING: Final = re.compile("enddef|H5Dcreate|H5Dset_extent")
"""Functions in which variables are filled."""


@finding(units={"share_of_program_bytes": "share", "bytes_written_twice": "byte"})
def fill_values(facts: Facts, *, least_share: float = 0.05, least_bytes: float = 64 * KIB) -> Iterator[Match]:
    """A format library fills variables before the program writes them.

    Parameters
    ----------
    least_share : share
        Of the bytes that the program writes. Less is the header of the format, or coordinates.
    least_bytes : byte
        The header of a small file may be a large share of it.

    Notes
    -----
    :In short: variables are filled before they are written; switching that off.
    :Why: Every byte is written twice.
    :How it is measured: Writes below the format layer, outside of its operations and before the program's first write
        to that file; cost is the time of the rank that is longest in the calls that fill (``nc_enddef``), where they
        are recorded, as all ranks are done when the fill writes are.
    :When it is wrong: Fill values are right where the program does not write all of a variable.
    :What helps: Where every value is written anyway, switch filling off: nc_set_fill(ncid, NC_NOFILL, &old) or
        nc_def_var_fill(…, NC_NOFILL, …) before nc_enddef; in HDF5 H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER).
    """
    found = _fill_writes(facts)
    if found is None:
        return
    flow, fills, _ = found
    filled = facts.cells.bytes(fills)
    if filled < least_bytes or filled < least_share * flow.upper_bytes:
        return
    where = facts.where(fills)
    start, end = where["time_range_s"]
    filling, function = _filling(facts, flow.upper)
    most = max(facts.longest_s(fills), filling)
    yield Match(
        flow.upper,
        f"{flow.upper} filled {joined(where['files'], where['file_count'])} with {bytes_text(filled)} "
        f"before the program wrote it: {flow.lower} writes by {named_ranks(where['ranks'])} from {start:.3f} to "
        f"{end:.3f} s, outside of any {flow.upper} operation",
        {
            "lower": flow.lower,
            "fill_bytes": filled,
            "fill_operations": facts.cells.operations(fills),
            "program_bytes": flow.upper_bytes,
            "share_of_program_bytes": filled / flow.upper_bytes if flow.upper_bytes else None,
            "first_program_write_s": facts.cells.extent(flow.parts["upper"])[0],
            "bytes_written_twice": flow.lower_access.overlapping_bytes,
            **({FUNCTION: function} if function else {}),
        },
        cells=fills,
        where=where,
        cost_s=most,
        gain=Gain(
            (0.0, most),
            "from nothing, if it is to allocate the file, which the writes of the program would do, to all",
        ),
    )


def _filling(facts: Facts, layer: str) -> tuple[float, str]:
    """Return how long the rank longest in a layer's calls that fill variables is there, in s, and the function."""
    calls = facts.trace.calls.totals
    if calls is None:
        return 0.0, ""
    names, sums = calls.functions.regions.name, facts.worked_metadata
    sums = sums.taken((sums.keys[0] == facts.cells.layer_row(layer)) & _fills(calls, sums) & (sums.keys[2] >= 0))
    longest = float(np.bincount(sums.keys[2], sums["ticks"]).max(initial=0.0)) / calls.scope.window.ticks_per_second
    return longest, names[sums.keys[5][sums["ticks"].argmax()]] if len(sums) else ""


def _fills(calls: Calls, sums: KeyedSums) -> Mask:
    """Return which sums of calls that move no data are of functions that fill variables."""
    fills = np.array([bool(_FILLING.search(name)) for name in calls.functions.regions.name] + [False])
    return np.asarray(fills[sums.keys[5]])


def without_filling(facts: Facts, calls: Calls, sums: KeyedSums) -> tuple[KeyedSums, float, int]:
    """Return sums of calls that move no data without those that fill variables, how long these take, and their layer.

    In the calls of lower layers within them it is not known which do.
    """
    found = _fill_writes(facts)
    if found is None or facts.cells.bytes(found[1]) < fill_values.thresholds["least_share"] * found[0].upper_bytes:
        return sums, 0.0, len(facts.cells.layers)
    row = facts.cells.layer_row(found[0].upper)
    return sums.taken((sums.keys[0] != row) | ~_fills(calls, sums)), _filling(facts, found[0].upper)[0], row


def _fill_writes(facts: Facts) -> tuple[Flow, Mask, Mask] | None:
    """Return the writes that a format library made to a file before the program's first write to it.

    They are by descent from the format layer and outside of its operations; those in the flow's lower layer, and those
    in any layer. A process that writes the file itself is only taken to fill it before its own first write. Of several
    format layers the highest with such writes counts, of layers below it the lowest.
    """
    cells = facts.cells
    for name in facts.sums.formats:
        flows = [flow for flow in facts.flows if flow.upper == name and flow.direction == "write"]
        flows = [flow for flow in flows if flow.lower_operations and flow.upper_operations]
        if not flows:
            continue
        flow, upper = flows[-1], flows[-1].parts["upper"]
        # A file that the program writes nothing to holds no variables to be filled.
        first = np.full(len(cells.definitions.files.name) + 1, np.iinfo(np.int64).min)
        file, begin = cells.file[upper], cells.columns.begin[upper]
        first[file] = np.iinfo(np.int64).max
        np.minimum.at(first, file, begin)
        early = cells.early(cells.layer_row(name)) & (cells.columns.begin < first[cells.file])
        fills = early & flow.parts["hidden"]
        if cells.bytes(fills):
            return flow, fills, early
    return None


@finding(may_be_meant=True, needs=("recorded handles",))
def hidden_traffic(facts: Facts, *, least_share: float = 0.01, least_bytes: float = 64 * KIB) -> Iterator[Match]:
    """A library moves bytes outside of the operations it was asked for.

    Parameters
    ----------
    least_share : share
        Of the bytes of the layer. Less changes none of its numbers visibly.
    least_bytes : byte
        Opening and closing a file moves a header.

    Notes
    -----
    :Why: Nobody who looks at the program sees them.
    :How it is measured: Bytes below without an operation above, fill values aside.
    :When it is wrong: A call that was not recorded explains them as well.
    :What helps: Look at what happens on opening, defining and closing files: headers, preallocation
        (MPI_File_preallocate), flushed buffers and caches.
    """
    for one in facts.trace.relations.hidden:
        if one.kind != WITHOUT_PARENT:
            continue
        fills = _filled(facts, one.layer) if one.direction == "write" else 0
        rest = one.bytes - fills
        if rest < least_bytes or rest < least_share * one.bytes / one.share:
            continue
        yield Match(
            one.layer,
            f"{one.layer} {'wrote' if one.direction == 'write' else 'read'} {bytes_text(rest)} for {one.other} outside "
            f"of any {one.other} operation, {percent_text(rest * one.share / one.bytes)} of its bytes: "
            f"{CAUSES[one.cause]}",
            {**one.to_dict(), "unexplained_bytes": rest, **({"fill_bytes": fills} if fills else {})},
            where=facts.where(_without_parent(facts, one)),
        )


def _without_parent(facts: Facts, one: HiddenTraffic) -> Mask:
    """Return the operations that moved what has no parent, bool (cells,)."""
    cells = facts.cells
    higher = cells.stack.layer[cells.at_handles(cells.stack.higher)]
    below = ~cells.own & (higher == cells.layer_row(one.other or ""))
    return np.asarray(below & cells.of(one.layer, one.direction) & cells.moving & (cells.attribution.parent < 0))


def _filled(facts: Facts, layer: str) -> int | float:
    """Return the fill bytes among a layer's writes that have no parent."""
    found = _fill_writes(facts)
    if found is None:
        return 0
    cells = facts.cells
    return cells.bytes(found[2] & cells.of(layer, "write") & (cells.attribution.parent < 0))


@finding(may_be_meant=True, needs=("recorded handles",))
def missing_lower_layer(facts: Facts, *, least_bytes: float = 1) -> Iterator[Match]:
    """A layer moves bytes and nothing of the layers below it is recorded.

    That is the recording and not the run, which it costs nothing.

    Parameters
    ----------
    least_bytes : byte
        A layer that moves nothing needs nothing below.

    Notes
    -----
    :Why: All numbers of lower layers lack it.
    :How it is measured: Handles that descend from the layer's, without operations.
    :When it is wrong: Libraries may map files into memory or use calls that no recorder wraps.
    :What helps: Record the calls inside the libraries too: build with scorep --io=runtime:posix (library wrapping at
        run time) instead of link-time wrapping, and link the libraries dynamically.
    """
    cells = facts.cells
    descends_with_operations = np.zeros(len(cells.layers), np.bool_)
    above = np.unique(cells.at_handles(cells.stack.higher))
    while len(above := above[above >= 0]):
        descends_with_operations[cells.stack.layer[above]] = True
        above = np.unique(cells.stack.higher[above])
    for row, layer in enumerate(cells.layers):
        of_layer = cells.of(layer, "total")
        moved = cells.bytes(of_layer)
        if layer not in facts.parallel - facts.systems or descends_with_operations[row] or moved < least_bytes:
            continue
        lower = [name for name in cells.layers[row + 1 :] if cells.of(name, "total").any()]
        others = f"; {' and '.join(lower)} hold the program's own calls only" if lower else ""
        yield Match(
            layer,
            f"{layer} moved {bytes_text(moved)}, but no operation of a layer below was recorded for it{others}: {layer}"
            " must reach the storage by calls that were not wrapped",
            {"bytes": moved, "operations": cells.operations(of_layer), "recorded_lower_layers": lower},
            where=facts.where(of_layer),
        )
