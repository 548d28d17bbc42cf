"""Findings about the operations of one layer: their sizes, their number, who does them and on which files."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...layers.attribution.calls.calls import OTHER_CALLS
from ...layers.attribution.calls.sums import NO_EVENT
from ...layers.flow.cells import Cells
from ...layers.flow.ranks import moving_ranks
from ...layers.statistics.statistics import sums_by
from ...model.arrays import Mask
from ...model.codes import IoFlag, IoRecord
from ...model.keyed import KeyedSums
from ...model.quantities import bytes_text, counted, joined, named_ranks, percent_text, seconds_text
from .evidence import RANKS_SHOWN, Evidence, Match, distinct_names, ends_of
from .rules import KIB, LEAST_SHARE, Rule

LOCAL_FOLDERS: Final = ("/tmp/", "/var/tmp/", "/run/", "/local/", "/localscratch/")
"""Where files of one node usually lie."""
_FLUSHES: Final = re.compile("sync|flush|suspend|wait", re.IGNORECASE)
"""Functions that put out what was written, or wait until it is, some of which leave no event."""
_KINDS_NAMED: Final = 3


def small_requests(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers and directions whose requests are mostly small."""
    cells, limit = evidence.cells, rule.thresholds["size"]
    for row, layer in enumerate(cells.layers):
        for direction in ("read", "write"):
            sized = cells.of(layer, direction) & cells.sized
            if cells.operations(sized) < rule.thresholds["operations"]:
                continue
            requests = evidence.sums.requests[row, direction]
            # Who takes part in a collective call with no bytes, or reads at the end of a file, asks for nothing that
            # could be put together; where most do, so few have bytes that theirs are no matter of size.
            empty = requests.zeros
            small, count = sized & cells.small, cells.operations(sized) - empty
            if count < rule.thresholds["operations"] or count < empty:
                continue
            small_operations = cells.operations(small) - empty
            share = small_operations / count
            if share < rule.thresholds["share"]:
                continue
            (median,) = requests.at([empty + (count - 1) // 2])
            where = evidence.where(small)
            # Many lines of a log beside a few large blocks are most of the calls, and do not matter; nor do calls that
            # take next to nothing of the run.
            least = rule.thresholds["severe_share"]
            columns = (cells.columns.whole, cells.columns.ticks)
            weigh = any(column[small].sum() >= least * column[sized].sum() for column in columns)
            spent = float(evidence.rank_seconds(small).max(initial=0.0))
            weigh &= spent >= rule.thresholds["severe_share_of_run"] * evidence.run_s
            asking = " that ask for bytes" if empty else ""
            yield Match(
                layer,
                f"{percent_text(share)} of {count:,} {layer} {direction}s{asking} ask for less than "
                f"{int(limit) // KIB} KiB; "
                f"the median is {bytes_text(median)}",
                {
                    "direction": direction,
                    "operations": count,
                    "small_operations": small_operations,
                    "share": share,
                    "small_bytes": cells.bytes(small),
                    "median_request": median,
                    "limit": limit,
                    **where,
                },
                severity=None if weigh else "info",
                cells=small,
            )


def split_requests(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find large requests that the next layer does in several smaller ones."""
    cells = evidence.cells
    for direction in ("write", "read"):
        for flow in evidence.adjacent(direction):
            split = flow.parts["upper"] & cells.split(cells.layer_row(flow.lower))
            count = cells.operations(split)
            if count < rule.thresholds["operations"]:
                continue
            if cells.bytes(split) < rule.thresholds["share"] * flow.upper_bytes:
                continue
            sums, median = flow.sums, flow.sums.split.median()
            yield Match(
                flow.upper,
                f"{flow.lower} did {count:,} {flow.upper} {direction}s of "
                f"{bytes_text(median)} (median) in {sums.pieces:,} pieces "
                f"of at most {bytes_text(sums.largest)}; "
                f"{sums.aligned:,} of them began on a 4 KiB boundary",
                {
                    **ends_of(flow),
                    "split_operations": count,
                    "pieces": sums.pieces,
                    "aligned_operations": sums.aligned,
                    "median_request": median,
                    "largest_piece": sums.largest,
                    **evidence.where(split),
                },
                cells=split,
            )


def metadata_storm(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers with many metadata operations within a second, or more of them than transfers."""
    cells, second = evidence.cells, evidence.cells.window.ticks_per_second
    for row, layer in enumerate(cells.layers):
        times, counts = evidence.trace.handle_sums.times(row)
        until = np.append(0, np.cumsum(counts))
        events = int(until[-1])
        if events < max(1, rule.thresholds["operations"]):
            continue
        peak = int((until[np.searchsorted(times, times + second, side="left")] - until[:-1]).max())
        transfers, transfer_s = _transfers(evidence, row)
        often = events / max(1, transfers) >= rule.thresholds["per_transfer"]
        if not (often or peak >= rule.thresholds["per_second"]):
            continue
        took = _metadata_seconds(evidence, row)
        done = evidence.trace.handle_sums.text_of(row, leave_out=(IoRecord.SEEK,))
        text = (
            f"{events:,} {layer} metadata operations beside {transfers:,} transfers: {done}; "
            f"up to {peak:,} within a second"
        )
        if took is not None:
            text += f", {seconds_text(took.sum())} in all"
            text += f" against {seconds_text(transfer_s)} of transfers" if transfers else ""
        yield Match(
            layer,
            text,
            {
                "metadata_operations": events,
                "transfers": transfers,
                "most_per_second": peak,
                "metadata_s": None if took is None else float(took.sum()),
                "transfer_s": transfer_s,
                **({} if took is None else _busiest(evidence, took)),
                "time_range_s": [float(times[0] / second), float(times[-1] / second)],
            },
            cost_s=None if took is None else min(float(took.max(initial=0.0)), evidence.run_s),
        )


def metadata_time(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers whose opens, closes and other calls that move no data take long beside their transfers."""
    calls = evidence.trace.calls
    if calls is None:
        return
    every = calls.counted_metadata
    # Flushes have a rule of their own, and seeks hardly take any time.
    flushes = np.array([bool(_FLUSHES.search(name)) for name in calls.functions.regions.name] + [False])
    every = every.taken((every.keys[1] != IoRecord.SEEK) & ~flushes[every.keys[5]])
    told = 0.0
    for row, layer in enumerate(evidence.cells.layers):
        sums = every.taken(every.keys[0] == row)
        if (sums.keys[2] < 0).any():
            # As in `_metadata_seconds`.
            continue
        ticks = np.bincount(sums.keys[2], sums["ticks"], minlength=len(evidence.definitions.groups.id))
        took = ticks / calls.scope.window.ticks_per_second
        transfers, transfer_s = _transfers(evidence, row)
        cost = min(float(took.max(initial=0.0)), evidence.run_s)
        beside = took.sum() / transfer_s if transfer_s else np.inf
        least = rule.thresholds["seconds"] if beside >= 1 else rule.thresholds["share_of_run"] * evidence.run_s
        # What calls of a higher layer take, those below them take as well.
        if not transfers or cost < least or cost <= told or beside < rule.thresholds["beside_transfers"]:
            continue
        told = cost
        often = np.bincount(sums.keys[2], sums["calls"]).max() >= rule.thresholds["severe_calls"]
        kinds = [one for one in calls.call_times if one.layer == layer and one.kind not in ("seeks", OTHER_CALLS)]
        named = [(one.summed_s, one.calls, one.kind.replace("_", " ")) for one in kinds]
        for one in calls.call_times:
            named += [
                (of.summed_s, of.calls, f"{of.function} calls")
                for of in one.functions
                if one.layer == layer and not _FLUSHES.search(of.function)
            ]
        named.sort(reverse=True)
        parts = [f"{seconds_text(taken)} in {count:,} {name}" for taken, count, name in named[:_KINDS_NAMED]]
        busiest, where = _busiest(evidence, took), _where_called(evidence, sums)
        rank = "".join(f"; longest on rank {number}" for number in busiest.values())
        first, last = where["time_range_s"]
        yield Match(
            layer,
            f"{layer} spends {', '.join(parts)}, beside {seconds_text(transfer_s)} in {counted(transfers, 'transfer')}"
            f"{rank}, from {seconds_text(first)} to {seconds_text(last)}",
            {
                "metadata_calls": int(sums["calls"].sum()),
                "metadata_s": float(took.sum()),
                "transfers": transfers,
                "transfer_s": transfer_s,
                **busiest,
                **where,
            },
            severity="warning" if often or cost >= rule.thresholds["severe_share"] * evidence.run_s else None,
            cost_s=cost,
        )


def _where_called(evidence: Evidence, sums: KeyedSums) -> dict[str, Any]:
    """Return who made some calls that move no data, on which files and when, as `Evidence.where` does of operations.

    Files on which they take next to nothing are left out, such as the folder that a library opens at its start.
    """
    by_file = np.unique(sums.keys[4], return_inverse=True)[1]
    ticks = np.bincount(by_file, sums["ticks"])
    sums = sums.taken((ticks >= LEAST_SHARE * ticks.max())[by_file])
    process, file, second = sums.keys[2], sums.keys[4], evidence.cells.window.ticks_per_second
    ranks = np.unique(evidence.definitions.groups.rank[process])
    ranks = ranks[ranks >= 0]
    files, place = np.unique(file[file >= 0], return_inverse=True)
    often = np.argsort(-np.bincount(place, sums["calls"][file >= 0]), kind="stable")
    return {
        "ranks": ranks[:RANKS_SHOWN].tolist(),
        "rank_count": len(ranks),
        "files": distinct_names(evidence.file_name(int(row)) for row in files[often]),
        "file_count": len(files),
        "time_range_s": [float(sums["begin"].min()) / second, float(sums["end"].max()) / second],
    }


def _busiest(evidence: Evidence, took: npt.NDArray[np.float64]) -> dict[str, int]:
    """Return the rank whose process takes longest; nothing where it has none."""
    rank = int(evidence.definitions.groups.rank[took.argmax()]) if len(took) else -1
    return {"busiest_rank": rank} if rank >= 0 else {}


def _transfers(evidence: Evidence, layer: int) -> tuple[int, float]:
    """Return how many transfers a layer has, and the time in s that they take, summed over processes."""
    cells = evidence.cells
    moving = cells.selected & (cells.layer == layer)
    return cells.operations(moving), float(evidence.rank_seconds(moving).sum())


def _metadata_seconds(evidence: Evidence, layer: int) -> npt.NDArray[np.float64] | None:
    """Return what opens, closes and the like in a layer took each process, float64 (processes,), None where unknown."""
    calls = evidence.trace.calls
    if calls is None:
        return None
    sums = calls.counted_metadata
    of_layer = (sums.keys[0] == layer) & ~np.isin(sums.keys[1], (IoRecord.SEEK, NO_EVENT))
    process, ticks = sums.keys[2][of_layer], sums["ticks"][of_layer]
    if (process < 0).any():
        # Damaged definitions: of transfers the time is that of known processes only.
        return None
    found = np.bincount(process, ticks, minlength=len(evidence.definitions.groups.id))
    return np.asarray(found / calls.scope.window.ticks_per_second)


def imbalance(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers in which one rank or one node does most of what the program itself asks for."""
    cells = evidence.cells
    for layer in cells.layers:
        for direction in ("read", "write"):
            own = cells.of(layer, direction) & cells.own
            found = moving_ranks(cells, own)
            moved = cells.bytes(own)
            if moved < rule.thresholds["bytes"] or found.busiest_share is None:
                continue
            ranks, nodes = len(found.rank), len(found.node)
            rank_share, node_share = found.busiest_share, found.busiest_node_share or 0.0
            one_rank = ranks > 1 and rank_share >= max(
                rule.thresholds["share"], min(1.0, rule.thresholds["times_fair"] / ranks)
            )
            one_node = nodes > 1 and node_share >= max(
                rule.thresholds["share"], min(1.0, rule.thresholds["times_fair"] / nodes)
            )
            if not (one_rank or one_node):
                continue
            if found.movers == 1:
                # That is serial_io.
                continue
            seconds = evidence.rank_seconds(own)
            # Few that share the work: it is no one rank's, and a node's only because they are there.
            if 2 * found.movers <= ranks and rank_share * found.movers < rule.thresholds["times_fair"]:
                who = f"{named_ranks(found.moving_ranks.tolist())} do all"
            elif one_rank:
                who = f"rank {found.busiest_rank} does {percent_text(rank_share)}"
            else:
                who = f"node {found.busiest_node} does {percent_text(node_share)}"
            yield Match(
                layer,
                f"{who} of the program's {layer} {direction}s, {bytes_text(moved)} over {counted(ranks, 'rank')} "
                f"on {counted(nodes, 'node')}",
                {"direction": direction, "bytes": moved, **found.to_dict(), **evidence.where(own)},
                cells=own,
                cost_s=float(seconds.max(initial=0.0) - seconds.mean()),
            )


def serial_io(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers in which one rank of several moves all that the program itself asks for."""
    cells = evidence.cells
    for layer in cells.layers:
        for direction in ("read", "write"):
            own = cells.of(layer, direction) & cells.own
            found, moved = moving_ranks(cells, own), cells.bytes(own)
            ranks = len(found.rank)
            if ranks < 2 or found.movers != 1 or moved < rule.thresholds["bytes"]:
                continue
            seconds = evidence.rank_seconds(own)
            yield Match(
                layer,
                f"rank {found.busiest_rank} alone does the program's {layer} {direction}s, {bytes_text(moved)} in "
                f"{seconds_text(float(seconds.max(initial=0.0)))}, while the other {counted(ranks - 1, 'rank')} "
                f"{'does' if ranks == 2 else 'do'} none",
                {"direction": direction, "bytes": moved, **found.to_dict(), **evidence.where(own)},
                cells=own,
                # What the others could take from it.
                cost_s=float(seconds.max(initial=0.0) * (1 - 1 / ranks)),
            )


def slow_ranks(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find ranks that take much longer a byte than the others: behind the widest gap of all ranks in their order."""
    cells = evidence.cells
    least = max(rule.thresholds["seconds"], rule.thresholds["share_of_run"] * evidence.run_s)
    for layer in cells.layers:
        for direction in ("read", "write"):
            own = cells.of(layer, direction) & cells.own
            # In a collective call a rank is as slow as the others make it.
            own &= (cells.flags & np.uint32(IoFlag.COLLECTIVE)) == 0
            amount = moving_ranks(cells, own)
            if amount.movers < 2 or cells.bytes(own) < rule.thresholds["bytes"]:
                continue
            rows = cells.processes[np.argsort(evidence.definitions.groups.rank[cells.processes], kind="stable")]
            place = np.searchsorted(cells.processes, rows)
            seconds, moved = evidence.rank_seconds(own)[place], amount.rank_bytes.astype(np.float64)
            # Who moves much less has another task; half of the bytes are moved by ranks with at least the usual amount.
            falling = np.sort(moved)[::-1]
            usual = falling[np.searchsorted(np.cumsum(falling), 0.5 * moved.sum())]
            alike = rule.thresholds["alike"]
            timed = (moved * alike >= usual) & (moved <= alike * usual) & (seconds > 0)
            rank, seconds, pace = amount.rank[timed], seconds[timed], seconds[timed] / moved[timed]
            order = np.argsort(pace, kind="stable")
            if len(order) < 2:
                continue
            widest = int(np.argmax(np.diff(np.log(pace[order])))) + 1
            fast, slow = order[:widest], order[widest:]
            slower = float(np.median(pace[slow]) / np.median(pace[fast]))
            medians = [float(np.median(seconds[rows])) for rows in (fast, slow)]
            # What the slow ones would save at the pace of the fast ones.
            cost = float((seconds[slow] * (1 - np.median(pace[fast]) / pace[slow])).max())
            if slower < rule.thresholds["slower"] or cost < least:
                continue
            yield Match(
                layer,
                f"{named_ranks(sorted(rank[slow].tolist()))} {'is' if len(slow) == 1 else 'are'} {slower:.1f} times "
                f"slower than {counted(len(fast), 'other')} at like amounts of the program's {layer} {direction}s: "
                f"{seconds_text(medians[1])} against {seconds_text(medians[0])} (medians of ranks)",
                {
                    "direction": direction,
                    "slow_ranks": sorted(rank[slow].tolist())[:RANKS_SHOWN],
                    "slower": slower,
                    "slowest_s": float(seconds[slow].max()),
                    "fastest_s": float(seconds[fast].min()),
                    **evidence.where(own),
                },
                severity="warning" if cost >= rule.thresholds["severe_share"] * evidence.run_s else "info",
                cells=own,
                cost_s=cost,
            )


def opened_not_used(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find files that many ranks open and only one transfers."""
    cells = evidence.cells
    handle, process = evidence.trace.handle_sums.opens.keys
    shown = cells.selection.selected[handle]
    layer_of, file_of = cells.stack.layer[handle], cells.definitions.handles.file[handle]
    ranks = len(cells.processes)
    for row, layer in enumerate(cells.layers):
        opened = shown & (layer_of == row)
        openers = _processes_by_file(file_of[opened], process[opened])
        moving = cells.of(layer, "total") & cells.moving
        users = _processes_by_file(cells.file[moving], cells.process[moving])
        least = max(rule.thresholds["openers"], rule.thresholds["openers_share"] * ranks)
        idle = [file for file, who in openers.items() if len(who) >= least and len(users.get(file, ())) == 1]
        if not idle:
            continue
        names = [evidence.file_name(file) for file in idle]
        most = max(len(openers[file]) for file in idle)
        groups = cells.definitions.groups.rank
        using = sorted({int(groups[process]) for file in idle for process in users[file]})
        yield Match(
            layer,
            f"{joined(names, len(names))}: opened in {layer} by {most:,} of {ranks:,} ranks, "
            f"used by {named_ranks(using)} only" + (" (one each)" if len(using) > 1 else ""),
            {
                "files": distinct_names(names),
                "file_count": len(names),
                "openers": most,
                "ranks": using,
                "never_used_opens": sum(len(openers[file]) - 1 for file in idle),
            },
        )


def _processes_by_file(file: Any, process: Any) -> dict[int, set[int]]:
    """Return the distinct processes of each file."""
    found: dict[int, set[int]] = {}
    known = file >= 0
    pairs = np.unique(file[known].astype(np.int64) << 32 | (process[known].astype(np.int64) + 1))
    for pair in pairs.tolist():
        found.setdefault(pair >> 32, set()).add((pair & 0xFFFFFFFF) - 1)
    return found


def stray_files(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find I/O to system files, many in a layer or any inside calls of a higher layer, and to node-local files."""
    yield from _system_files(evidence, rule)
    yield from _local_files(evidence, rule)


def _local_files(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find the program's own files that only one node can see, by their scope or their folder."""
    definitions, cells = evidence.definitions, evidence.cells
    files, nodes = definitions.files, np.unique(definitions.groups.node[cells.processes])
    nodes = nodes[nodes >= 0]
    if len(nodes) < 2:
        return
    local = np.array([name.startswith(LOCAL_FOLDERS) for name in files.name], np.bool_) | np.isin(files.scope, nodes)
    for layer in cells.layers:
        mask = cells.of(layer, "total") & cells.own & (cells.file >= 0) & np.append(local, False)[cells.file]
        moved, count = cells.bytes(mask), cells.operations(mask)
        if moved < rule.thresholds["local_bytes"] or not count:
            continue
        where = evidence.where(mask)
        yield Match(
            layer,
            f"{layer} moves {bytes_text(moved)} on {joined(where['files'], where['file_count'])}, which "
            f"only one node sees",
            {"bytes": moved, "operations": count, "node_local": True, **where},
            cells=mask,
        )


def _system_files(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find operations on files that are set aside, where they run inside of calls that the program waits for.

    Others come from the start of the MPI library, the measurement or the system; they are told as what is set aside.
    """
    cells = evidence.cells
    aside = cells.within & ~cells.selected & (cells.handle >= 0)
    reasons, parent = cells.selection.reasons, cells.attribution.parent
    for row, layer in enumerate(cells.layers):
        mask = aside & (cells.layer == row)
        inside = mask & (parent >= 0)
        count, count_inside = cells.operations(mask), cells.operations(inside)
        if count_inside < rule.thresholds["inside"]:
            continue
        why = _counted(cells, mask, cells.selection.reason_of(cells.handle), [one.reason for one in reasons])
        callers = _counted(cells, inside, cells.layer[parent], cells.layers)
        where = evidence.where(inside)
        moved = bytes_text(cells.bytes(mask))
        names = " and ".join(callers)
        some = f" ({where['files'][0]}, …)" if where["files"] else ""
        text = (
            f"{count:,} {layer} operations ({moved}) on files that are not the program's, {count_inside:,} of them "
            f"inside {names} operations of {named_ranks(where['ranks'])}{some}"
        )
        yield Match(
            layer,
            text,
            {
                "operations": count,
                "bytes": cells.bytes(mask),
                "inside_operations": count_inside,
                "inside_bytes": cells.bytes(inside),
                "inside_layers": callers,
                "reasons": why,
                **where,
            },
            "warning",
            inside,
        )


def _counted(cells: Cells, mask: Mask, place: npt.NDArray[np.integer[Any]], names: Sequence[str]) -> dict[str, int]:
    """Return the operations in some cells by the name of their place, in the order of the places."""
    places, row = np.unique(place[mask], return_inverse=True)
    counts = sums_by(row, cells.columns.operations[mask], len(places))
    found: Counter[str] = Counter()
    for one, count in zip(places.tolist(), counts.tolist(), strict=True):
        found[names[one]] += count
    return dict(found)
