"""Findings about opens, closes and other calls that move no data."""

import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ...layers.attribution.calls.calls import CALL_KINDS, Calls
from ...layers.attribution.calls.functions import FUNCTION
from ...model.arrays import Floats, column_at
from ...model.codes import IoFlag, IoRecord
from ...model.keyed import KeyedSums
from ...model.quantities import counted, joined, named_ranks, seconds_text
from .better_cases import gain_of_fewer_calls
from .counted import CountedFacts
from .facts import LEAST_SHARE, Facts, Gain, Match, distinct_names
from .outside import without_filling
from .rule import finding

_FEWER_OBJECTS: Final = (
    "Put many small objects into few large ones: one data set, table or compound for all of a step rather than a group "
    "and a data set for each; keep objects open that are used again; write attributes once. Where it must be many, "
    "H5Pset_libver_bounds(…, H5F_LIBVER_LATEST, …), H5Pset_layout(…, H5D_COMPACT) and H5Pset_meta_block_size make each "
    "cheaper."
)
_FEWER_FILES: Final = (
    "Each file is opened once already, so fewer files help: put what a rank, a node or all write in a step into one "
    "file, one after the other, as members of an archive or as records of a library's file; then it is renamed and "
    "deleted once, too."
)
_LARGER: Final = "fewer and larger ones"
_ONCE: Final = 0.9
"""Files over opens from which on nearly each is opened once."""
_FLUSHES: Final = re.compile("sync|flush|suspend|wait", re.IGNORECASE)
"""Functions that put out what was written, or wait until it is, some of which leave no event."""
_KINDS_NAMED: Final = 3
_CLOSES: Final = "closes"
_LONGER: Final = 1.25
"""Times what such calls of a higher layer take, from which on those of a lower one are told beside them."""
_TOLD: Final = 0.1
"""Of the time in calls: what ranks wait there for the last of them beside it is told from that on."""


@finding(needs=("metadata",), by_time=True, units={"most_per_second": "1/s", "objects": "count"})
def metadata_storm(
    facts: Facts, *, operations: float = 1000, per_second: float = 1000, per_transfer: float = 1.0
) -> Iterator[Match]:
    """Opens, closes, deletions and locks come in thousands a second, or more often than transfers.

    Parameters
    ----------
    operations : count
        A program with many ranks opens some files on each at its start.
    per_second : count
        A metadata server does some tens of thousands a second, for all jobs.
    per_transfer : times
        With fewer, opening a file pays.

    Notes
    -----
    :In short: {things} are opened, closed or deleted all the time; {fewer}.
    :Why: They all go to few metadata servers.
    :How it is measured: Metadata events on the program's files, seeks aside, which cost nothing; the most within a
        second. From 1,000 on. Of a library with a format, opens within an open file are of objects, such as data sets.
    :When it is wrong: Without the time of calls there is no cost, and it is for information only.
    :What helps: Keep files open, put many small files into one, open once and hand the data on; use collective metadata
        (H5Pset_all_coll_metadata_ops, H5Pset_coll_metadata_write). Where it is objects in files, fewer and larger ones.
    """
    calls, sums, second = facts.trace.calls.totals, facts.trace.sums.handles, facts.cells.window.ticks_per_second
    for row, layer in enumerate(facts.cells.layers):
        times, counts = sums.times(row)
        until = np.append(0, np.cumsum(counts))
        events = int(until[-1])
        if events < max(1, operations):
            continue
        peak = int((until[np.searchsorted(times, times + second, side="left")] - until[:-1]).max())
        transfers, transfer_s = _transfers(facts, row)
        if events < per_transfer * max(1, transfers) and peak < per_second:
            continue
        took, objects = facts.metadata_seconds(row), _objects(facts, row)
        of_layer = None if calls is None or took is None else facts.events_of(row)
        within = f", {objects['objects']:,} of them opens of objects in a file," if "objects" in objects else ""
        yield Match(
            layer,
            f"{events:,} {layer} metadata operations{within} beside {counted(transfers, 'transfer')}: "
            f"{sums.text_of(row, leave_out=(IoRecord.SEEK,))}; up to {peak:,} within a second"
            f"{_took_text(took, transfers, transfer_s)}",
            {
                "metadata_operations": events,
                "transfers": transfers,
                "most_per_second": peak,
                "metadata_s": None if took is None else float(took.sum()),
                "transfer_s": transfer_s,
                **({} if took is None else _busiest(facts, took)),
                **objects,
                "time_range_s": [float(times[0] / second), float(times[-1] / second)],
            },
            where=_where_called(facts, calls, of_layer) if calls and of_layer is not None and len(of_layer) else None,
            cost_s=None if took is None else min(float(took.max(initial=0.0)), facts.run_s),
            gain=_storm_gain(facts, row, took),
            advice=_fewer(objects),
        )


def _fewer(objects: dict[str, Any]) -> str:
    """Return what helps where it is something else than opening files less often."""
    return _FEWER_OBJECTS if "objects" in objects else _FEWER_FILES if objects["fewer"] == _LARGER else ""


def _took_text(took: Floats | None, transfers: int, transfer_s: float) -> str:
    """Return how long metadata takes in all, in words, beside transfers; nothing where it is not known."""
    if took is None:
        return ""
    beside = f" against {seconds_text(transfer_s)} of transfers" if transfers else ""
    return f", {seconds_text(took.sum())} in all{beside}"


def _objects(facts: Facts, row: int) -> dict[str, Any]:
    """Return what is opened in a layer, in words, and how many of it are objects in files where those are most."""
    opens, stack = facts.trace.sums.handles.opens, facts.cells.stack
    handle = opens.keys[0].astype(np.int32)
    parent = column_at(stack.parent, handle)
    mine = facts.cells.selection.selected[handle] & (stack.layer[handle] == row)
    inside = mine & (parent >= 0) & (column_at(stack.layer, parent) == row)
    count = int(opens["count"][inside].sum())
    if facts.cells.layers[row] not in facts.sums.formats or 2 * count <= int(opens["count"][mine].sum()):
        files = column_at(facts.definitions.handles.file, handle)[mine]
        once = _ONCE * int(opens["count"][mine].sum()) <= len(np.unique(files))
        return {"things": "files", "fewer": _LARGER if once else "opening each once"}
    return {"things": "objects in files", "fewer": _LARGER, "objects": count}


def _metadata_time_counted(
    counters: CountedFacts, *, beside_transfers: float, share_of_run: float, least_s: float
) -> Iterator[Match]:
    """Find it by the time in metadata of the slowest rank."""
    reported = 0.0
    for group in counters.layers:
        took, _ = counters.longest(group.rows, "meta")
        transfer_s, _ = counters.longest(group.rows, "read", "write")
        # Fill values, and what a cache held back, move when a dataset is made or closed.
        inside = max(0.0, counters.below_s(group) - transfer_s)
        took = max(0.0, took - inside)
        least = least_s if took >= transfer_s else share_of_run * counters.run_s
        if took < max(least, reported) or took < beside_transfers * transfer_s or not took:
            continue
        reported = took
        calls = {name: group.sum(*names) for name, names in _COUNTED_CALLS.items()}
        told = ", ".join(counted(count, name[:-1], name) for name, count in calls.items() if count)
        yield counters.match(
            group,
            f"{group.layer} spends {seconds_text(took)} in calls that move no data ({told})"
            + (f", beside {seconds_text(transfer_s)} in {counted(group.operations, 'transfer')}" if transfer_s else ""),
            {
                "metadata_calls": sum(calls.values()),
                "longest": max(calls, key=lambda name: calls[name]),
                "transfers": group.operations,
                "transfer_s": transfer_s,
            },
            kinds=("meta",),
            cost_s=took,
        )


_COUNTED_CALLS: Final = {
    "opens": ("opens", "indep_opens", "coll_opens", "creates", "obj_opens", "array_opens", "kv_opens"),
    "stats": ("stats", "array_stats", "get_sizes"),
    "seeks": ("seeks",),
    "views": ("views",),
    "renames": ("rename_sources",),
}


@finding(needs=("metadata",), explained_by={"metadata-storm": 0.5}, by_time=True, counted=_metadata_time_counted)
def metadata_time(
    facts: Facts, *, beside_transfers: float = 0.25, share_of_run: float = 0.01, least_s: float = 0.001
) -> Iterator[Match]:
    """Opens, closes, deletions and functions such as ``nc_enddef`` or ``MPI_File_set_size`` take longer than the
    transfers of their layer, or a quarter as long (or there are none) and at least 1 % of the run, or closes alone take
    2 % of the run or 10 % of the I/O. What puts data out (``MPI_File_sync``, ``nc_sync``) is none of them.

    Parameters
    ----------
    beside_transfers : times
        The time of the transfers: below, these are what takes long.
    share_of_run : share
        Less makes no run faster, where transfers take longer.
    least_s : s
        Less is noise of the clock.

    Notes
    -----
    :In short: {longest} take long{reason}; fewer of them.
    :Why: However fast the transfers are, the run does not become faster.
    :How it is measured: From Enter to Leave of these calls, summed over ranks, against the time of the layer's reads
        and writes, without what ranks wait in calls of all of them until the last one comes, from other work
        (``late-arrivals``) or from I/O of its own, such as its part of a write before all close the file; cost is the
        time of the rank that is longest in them. What such calls take in a lower layer is not reported again, nor what
        fill values do in ``nc_enddef`` (``fill-values``).
    :When it is wrong: Which calls all ranks make together is known of MPI by their names, and of layers above by the
        calls of MPI inside; a rank may wait elsewhere, too.
    :What helps: Open a file once and keep it open, put several steps into one file, let only those open it that use it;
        call MPI_File_set_size and MPI_File_set_view no more often than they change. Where all ranks do so together,
        each waits for the last: see who comes late.
    """
    calls, reported = facts.trace.calls.totals, 0.0
    if calls is None:
        return
    every, filling, filled = without_filling(facts, calls, _metadata_calls(facts, calls))
    for row in range(len(facts.cells.layers)):
        sums = every.taken(every.keys[0] == row)
        transfers, transfer_s = _transfers(facts, row)
        took = facts.seconds_of(sums)
        if took is None:
            continue
        cost = min(float(took.max(initial=0.0)), facts.run_s)
        beside = took.sum() / transfer_s if transfer_s else np.inf
        least = least_s if transfers and beside >= 1 else share_of_run * facts.run_s
        of_closes = sums.taken(sums.keys[1] == IoRecord.DESTROY_HANDLE)
        closing = facts.seconds_of(of_closes)
        closes = closing is not None and facts.is_much(float(closing.max(initial=0.0)))
        # What calls of a higher layer take, those below them take as well.
        if cost > _LONGER * reported + (filling if row > filled else 0.0) and (
            (cost >= least and beside >= beside_transfers) or (closes and cost >= least_s)
        ):
            reported = cost
            yield _metadata_match(facts, row, calls, sums, took)


@finding(needs=("metadata",), by_time=True)
def seeks(facts: Facts, *, least_share: float = 0.5, least_s: float = 0.01) -> Iterator[Match]:
    """Seeks take 2 % of the run or 10 % of the I/O, and as long as the transfers of their layer.

    Parameters
    ----------
    least_share : share
        Of the time of a layer's seeks and transfers: below, the transfers are what takes long.
    least_s : s
        Less is a single access of a disk.

    Notes
    -----
    :In short: seeks take long; going through files in order
    :Why: A seek moves nothing, and one in a stream of C drops what was read ahead, so that the next read asks for it
        again.
    :How it is measured: From Enter to Leave of the program's seeks and of its reads and writes in a layer; cost is the
        time of the rank that is longest in seeks.
    :When it is wrong: Where calls are as short as recording one takes, much of it is the recording.
    :What helps: Leave out seeks to where the file is anyway; read a larger part at once and take from it what is
        needed; read in the order of the file; use pread and pwrite, which say where, instead of lseek before each.
    """
    for row, layer in enumerate(facts.cells.layers):
        sums = facts.worked_metadata
        sums = sums.taken((sums.keys[0] == row) & (sums.keys[1] == IoRecord.SEEK))
        took = facts.seconds_of(sums)
        longest = 0.0 if took is None else min(float(took.max(initial=0.0)), facts.run_s)
        transfers, _ = _transfers(facts, row)
        moving = facts.longest_s(facts.cells.of(layer, "total"))
        if longest < least_s or longest < least_share * (longest + moving) or not facts.is_much(longest):
            continue
        count = int(sums["calls"].sum())
        yield Match(
            layer,
            f"{counted(count, f'{layer} seek takes', f'{layer} seeks take')} a rank up to {seconds_text(longest)}, "
            f"{counted(transfers, 'transfer')} {seconds_text(moving)}",
            {"seek_count": count, "seek_s": longest, "transfers": transfers, "transfer_s": moving},
            where=_where_called(facts, facts.trace.calls.totals, sums) if facts.trace.calls.totals else None,
            cost_s=longest,
            gain=Gain((0.0, longest), "from nothing, if each goes elsewhere, to all, if none is needed"),
        )


def _metadata_match(facts: Facts, row: int, calls: Calls, sums: KeyedSums, took: Floats) -> Match:
    """Return the match of calls of a layer that move no data and take `took` s by process."""
    layer, (transfers, transfer_s) = facts.cells.layers[row], _transfers(facts, row)
    busiest, where = _busiest(facts, took), _where_called(facts, calls, _long_on(sums))
    rank = "".join(f"; longest on rank {number}" for number in busiest.values())
    of_all = ", summed over ranks" if np.count_nonzero(took) > 1 else ""
    first, last = where["time_range_s"]
    longest = _longest_kinds(calls, sums)
    what = longest[0][2] if longest else "calls"
    gain, kept = gain_of_fewer_calls(facts, sums, took), {}
    if what == _CLOSES and _written_on_closing(facts, layer):
        kept, gain = (
            {"reason": ", as they write what was kept until then"},
            Gain((0.0, 0.0), "what was kept is written"),
        )
    beside = (
        f"beside {seconds_text(transfer_s)} in {counted(transfers, 'transfer')}"
        if transfers
        else "and transfers nothing"
    )
    told = ", ".join(f"{seconds_text(one)} in {counted(often, name[:-1], name)}" for one, often, name in longest)
    waited_s = float((calls.counted_metadata.at(sums.keys, "ticks") - sums["ticks"]).sum())
    waited_s /= calls.scope.window.ticks_per_second
    apart = f", {seconds_text(waited_s)} more until the last rank came" if waited_s >= _TOLD * took.sum() else ""
    return Match(
        layer,
        f"{layer} spends {told}{apart}, {beside}{of_all}{rank}, from {seconds_text(first)} to {seconds_text(last)}",
        {
            "waited_s": waited_s,
            "metadata_calls": int(sums["calls"].sum()),
            "longest": what,
            **kept,
            "metadata_s": float(took.sum()),
            "transfers": transfers,
            "transfer_s": transfer_s,
            **busiest,
        },
        advice=_FEWER_OBJECTS if "objects" in _objects(facts, row) else "",
        where=where,
        cost_s=min(float(took.max(initial=0.0)), facts.run_s),
        gain=gain,
    )


def _written_on_closing(facts: Facts, layer: str) -> bool:
    """Tell whether most of what is written below a layer is written outside of its writes, as a library's cache is."""
    flows = [flow for flow in facts.adjacent("write") if flow.upper == layer]
    return bool(2 * sum(flow.hidden_bytes for flow in flows) > sum(flow.lower_bytes for flow in flows))


def _metadata_calls(facts: Facts, calls: Calls) -> KeyedSums:
    """Return calls that move no data: no flushes, which have a rule of their own, and no seeks, which cost nothing."""
    every = facts.worked_metadata
    flushes = np.array([bool(_FLUSHES.search(name)) for name in calls.functions.regions.name] + [False])
    return every.taken((every.keys[1] != IoRecord.SEEK) & ~flushes[every.keys[5]])


def _longest_kinds(calls: Calls, sums: KeyedSums) -> list[tuple[float, int, str]]:
    """Return which kinds of calls that move no data take longest: time in s, calls, name."""
    kinds, names, second = [], calls.functions.regions.name, calls.scope.window.ticks_per_second
    for kind, records in CALL_KINDS.items():
        of_kind = sums.taken(np.isin(sums.keys[1], records))
        for row in np.unique(of_kind.keys[5]).tolist():
            one = of_kind.taken(of_kind.keys[5] == row)
            told = kind.replace("_", " ") if row < 0 else f"{names[row]} calls"
            kinds.append((int(one["ticks"].sum()) / second, int(one["calls"].sum()), told))
    return sorted(kinds, reverse=True)[:_KINDS_NAMED]


def _long_on(sums: KeyedSums) -> KeyedSums:
    """Return calls without files on which they take next to nothing, as a folder that a library opens at first."""
    by_file = np.unique(sums.keys[4], return_inverse=True)[1]
    ticks = np.bincount(by_file, sums["ticks"])
    return sums.taken((ticks >= LEAST_SHARE * ticks.max())[by_file])


def _where_called(facts: Facts, calls: Calls, sums: KeyedSums) -> dict[str, Any]:
    """Return who made some calls that move no data, on which files and when, as `Facts.where` does of operations.

    A function is named that takes most of the time.
    """
    by_function = np.bincount(sums.keys[5] + 1, sums["ticks"])
    most = int(by_function.argmax())
    named = most > 0 and 2 * by_function[most] > by_function.sum()
    return {
        **({FUNCTION: calls.functions.regions.name[most - 1]} if named else {}),
        **facts.who(sums.keys[2]),
        **facts.on_files(sums.keys[4], sums["ticks"]),
        "time_range_s": facts.extent(sums["begin"], sums["end"]),
    }


def _busiest(facts: Facts, took: Floats) -> dict[str, int]:
    """Return the rank whose process takes longest; nothing where it has none."""
    rank = int(facts.definitions.groups.rank[took.argmax()]) if len(took) else -1
    return {"busiest_rank": rank} if rank >= 0 else {}


def _transfers(facts: Facts, layer: int) -> tuple[int, float]:
    """Return how many transfers a layer has, and the time in s that they take, summed over processes."""
    cells = facts.cells
    moving = cells.selected & (cells.layer == layer)
    return cells.operations(moving), float(facts.rank_seconds(moving).sum())


def _storm_gain(facts: Facts, layer: int, took: Floats | None) -> Gain | None:
    calls = facts.trace.calls.totals
    return None if calls is None or took is None else gain_of_fewer_calls(facts, facts.events_of(layer), took)


@finding(may_be_meant=True, needs=("metadata",), units={"openers": "count", "never_used_opens": "count"})
def opened_not_used(facts: Facts, *, openers: float = 2, openers_share: float = 0.5) -> Iterator[Match]:
    """Files that many ranks open and one uses.

    Parameters
    ----------
    openers : count
        A file that one rank opens is not opened in vain.
    openers_share : share
        Of all ranks: fewer are a group that shares the file.

    Notes
    -----
    :Why: Each open asks the metadata server.
    :How it is measured: Ranks that made a handle of the file against those that moved bytes, also in other layers
        by calls of their own.
    :When it is wrong: Collective opens need all ranks.
    :What helps: Let only those open that transfer data; ROMIO's hints romio_no_indep_rw=true with cb_config_list
        leave the open to aggregators.
    """
    cells = facts.cells
    handle, process = facts.trace.sums.handles.opens.keys
    shown = cells.selection.selected[handle]
    layer_of, file_of = cells.stack.layer[handle], cells.definitions.handles.file[handle]
    ranks = len(cells.processes)
    for row, layer in enumerate(cells.layers):
        opened = shown & (layer_of == row)
        opening = _processes_by_file(file_of[opened], process[opened])
        # What ranks move together only some need do below; what each moves by itself it does, through which layer ever.
        collective = (cells.flags & np.uint32(IoFlag.COLLECTIVE)) > 0
        moving = cells.moving & cells.selected & ((cells.layer == row) | ~collective)
        users = _processes_by_file(cells.file[moving], cells.process[moving])
        least = max(openers, openers_share * ranks)
        idle = [file for file, who in opening.items() if len(who) >= least and len(users.get(file, ())) == 1]
        if not idle:
            continue
        names = [facts.file_name(file) for file in idle]
        most = max(len(opening[file]) for file in idle)
        using = facts.ranks(np.array([process for file in idle for process in users[file]]))
        yield Match(
            layer,
            f"{joined(names, len(names))}: opened in {layer} by {most:,} of {ranks:,} ranks, "
            f"used by {named_ranks(using)} only" + (" (one each)" if len(using) > 1 else ""),
            {
                "files": distinct_names(names),
                "file_count": len(names),
                "openers": most,
                "ranks": using,
                "never_used_opens": sum(len(opening[file]) - 1 for file in idle),
            },
        )


def _processes_by_file(file: Any, process: Any) -> dict[int, set[int]]:
    """Return the distinct processes of each file."""
    found: dict[int, set[int]] = {}
    known = file >= 0
    for one, who in np.unique(np.stack((file[known], process[known])), axis=1).T.tolist():
        found.setdefault(one, set()).add(who)
    return found
