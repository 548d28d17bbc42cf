"""Findings about the operations of one layer: their sizes, their number, who does them and on which files."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ...layers.flow.ranks import moving_ranks
from ...layers.handles.lifetimes import Origin
from ...model.codes import UNDEFINED_UINT64
from ...model.quantities import bytes_text, joined, named_ranks, percent_text
from .evidence import Evidence, Match, distinct_names, ends_of
from .rules import KIB, Rule

LOCAL_FOLDERS: Final = ("/tmp/", "/var/tmp/", "/run/", "/local/", "/localscratch/")
"""Where files of one node usually lie."""


def small_requests(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers and directions whose requests are mostly small."""
    limit = rule.thresholds["size"]
    for layer in evidence.traffic.layers:
        for direction in ("read", "write"):
            rows = evidence.rows(layer, direction)
            requested = evidence.traffic.operations.requested[rows]
            rows, requested = rows[requested != UNDEFINED_UINT64], requested[requested != UNDEFINED_UINT64]
            if len(rows) < rule.thresholds["operations"]:
                continue
            small = rows[requested < limit]
            share = len(small) / len(rows)
            if share < rule.thresholds["share"]:
                continue
            where = evidence.where(small)
            yield Match(
                layer,
                f"{percent_text(share)} of {len(rows):,} {layer} {direction}s ask for less than "
                f"{int(limit) // KIB} KiB; "
                f"the median is {bytes_text(float(np.median(requested)))}",
                {
                    "direction": direction,
                    "operations": len(rows),
                    "small_operations": len(small),
                    "share": share,
                    "small_bytes": evidence.bytes(small),
                    "median_request": float(np.median(requested)),
                    "limit": limit,
                    **where,
                },
            )


def split_requests(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find large requests that the next layer does in several smaller ones."""
    traffic = evidence.traffic
    for direction in ("write", "read"):
        for flow in evidence.adjacent(direction):
            if not len(flow.beneath):
                continue
            count = np.bincount(flow.ancestor[flow.beneath], minlength=len(flow.ancestor))[flow.upper_rows]
            largest = np.zeros(len(flow.ancestor), np.float64)
            np.maximum.at(largest, flow.ancestor[flow.beneath], traffic.moved[flow.beneath].astype(np.float64))
            request = traffic.moved[flow.upper_rows].astype(np.float64)
            split = (request >= rule.thresholds["request"]) & (count >= rule.thresholds["pieces"])
            split &= largest[flow.upper_rows] < request
            rows = flow.upper_rows[split]
            if len(rows) < rule.thresholds["operations"]:
                continue
            if float(request[split].sum()) < rule.thresholds["share"] * float(request.sum()):
                continue
            offset = traffic.operations.offset[rows]
            known = offset != UNDEFINED_UINT64
            aligned = int((known & (offset % np.uint64(4 * KIB) == 0)).sum())
            yield Match(
                flow.upper,
                f"{flow.lower} did {len(rows):,} {flow.upper} {direction}s of "
                f"{bytes_text(float(np.median(request[split])))} (median) in {int(count[split].sum()):,} pieces "
                f"of at most {bytes_text(float(largest[rows].max()))}; "
                f"{aligned:,} of them began on a 4 KiB boundary",
                {
                    **ends_of(flow),
                    "split_operations": len(rows),
                    "pieces": int(count[split].sum()),
                    "aligned_operations": aligned,
                    "median_request": float(np.median(request[split])),
                    "largest_piece": float(largest[rows].max()),
                    **evidence.where(rows),
                },
            )


def metadata_storm(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers with many metadata operations, all within a second or more of them than transfers."""
    second = evidence.traffic.window.ticks_per_second
    for layer in evidence.trace.layers.values():
        times = np.sort(layer.metadata_events.time)
        if len(times) < rule.thresholds["operations"]:
            continue
        peak = int((np.searchsorted(times, times + second, side="left") - np.arange(len(times))).max())
        transfers = len(layer.rows)
        ratio = len(times) / max(1, transfers)
        if peak < rule.thresholds["per_second"] and ratio < rule.thresholds["per_transfer"]:
            continue
        yield Match(
            layer.name,
            f"{len(times):,} {layer.name} metadata operations beside {transfers:,} transfers, "
            f"up to {peak:,} within a second",
            {
                "metadata_operations": len(times),
                "transfers": transfers,
                "most_per_second": peak,
                "time_range_s": [float(times[0] / second), float(times[-1] / second)],
            },
        )


def imbalance(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers in which one rank or one node does most of what the program itself asks for."""
    for layer in evidence.traffic.layers:
        for direction in ("read", "write"):
            rows = evidence.rows(layer, direction)
            rows = rows[evidence.traffic.own[rows]]
            found = moving_ranks(evidence.traffic, rows)
            moved = evidence.bytes(rows)
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
            who = (
                f"rank {found.busiest_rank} does {percent_text(rank_share)}"
                if one_rank
                else f"node {found.busiest_node} does {percent_text(node_share)}"
            )
            yield Match(
                layer,
                f"{who} of the program's {layer} {direction}s, {bytes_text(moved)} over {ranks:,} ranks "
                f"on {nodes:,} nodes",
                {"direction": direction, "bytes": moved, **found.to_dict(), **evidence.where(rows)},
            )


def opened_not_used(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find files that many ranks open and only one transfers."""
    traffic = evidence.traffic
    lifetimes = evidence.trace.handles.lifetimes
    handles = traffic.definitions.handles
    ranks = len(traffic.processes)
    opened = (lifetimes.origin == Origin.CREATED) | (lifetimes.origin == Origin.DUPLICATED)
    opened &= traffic.selection.selected[lifetimes.handle] & traffic.window.contains(lifetimes.created)
    for row, layer in enumerate(traffic.layers):
        rows = np.flatnonzero(opened & (traffic.stack.layer[lifetimes.handle] == row))
        openers = _processes_by_file(handles.file[lifetimes.handle[rows]], lifetimes.process[rows])
        moving = evidence.rows(layer, "total")
        moving = moving[traffic.moved[moving] > 0]
        users = _processes_by_file(evidence.files(moving), traffic.operations.process[moving])
        least = max(rule.thresholds["openers"], rule.thresholds["openers_share"] * ranks)
        idle = [file for file, who in openers.items() if len(who) >= least and len(users.get(file, ())) == 1]
        if not idle:
            continue
        names = [evidence.file_name(file) for file in idle]
        most = max(len(openers[file]) for file in idle)
        groups = traffic.definitions.groups.rank
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
    definitions = evidence.traffic.definitions
    files, nodes = definitions.files, np.unique(definitions.groups.node[evidence.traffic.processes])
    nodes = nodes[nodes >= 0]
    if len(nodes) < 2:
        return
    local = np.array([name.startswith(LOCAL_FOLDERS) for name in files.name], np.bool_) | np.isin(files.scope, nodes)
    for layer in evidence.traffic.layers:
        rows = evidence.rows(layer, "total")
        rows = rows[evidence.traffic.own[rows]]
        file = evidence.files(rows)
        rows = rows[np.isin(file, np.flatnonzero(local))]
        moved = evidence.bytes(rows)
        if moved < rule.thresholds["local_bytes"] or not len(rows):
            continue
        where = evidence.where(rows)
        yield Match(
            layer,
            f"{layer} moves {bytes_text(moved)} on {joined(where['files'], where['file_count'])}, which "
            f"only one node sees",
            {"bytes": moved, "operations": len(rows), "node_local": True, **where},
        )


def _system_files(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find operations on files that are set aside."""
    traffic = evidence.traffic
    aside = traffic.within & ~traffic.selected & (traffic.operations.handle >= 0)
    reasons = traffic.selection.reasons
    parent = traffic.attribution.parent
    for row, layer in enumerate(traffic.layers):
        rows = np.flatnonzero(aside & (traffic.layer == row))
        inside = rows[parent[rows] >= 0]
        if len(rows) < rule.thresholds["operations"] and len(inside) < rule.thresholds["inside"]:
            continue
        reason = traffic.selection.handle_reason[traffic.operations.handle[rows]]
        why = Counter(reasons[one].reason for one in reason.tolist())
        callers = Counter(traffic.layers[one] for one in traffic.layer[parent[inside]].tolist())
        where = evidence.where(inside if len(inside) else rows)
        moved = bytes_text(evidence.bytes(rows))
        text = f"{len(rows):,} {layer} operations ({moved}) on files that are none of the program's"
        if len(inside):
            names = " and ".join(callers)
            some = f" ({where['files'][0]}, …)" if where["files"] else ""
            text += f", {len(inside):,} of them inside {names} operations of {named_ranks(where['ranks'])}{some}"
        yield Match(
            layer,
            text,
            {
                "operations": len(rows),
                "bytes": evidence.bytes(rows),
                "inside_operations": len(inside),
                "inside_bytes": evidence.bytes(inside),
                "inside_layers": dict(callers),
                "reasons": dict(why),
                **where,
            },
            "warning" if len(inside) >= rule.thresholds["operations"] else None,
        )
