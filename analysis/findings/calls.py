"""Findings about calls of the upper layer: who does their work, and where their time goes."""

from collections.abc import Iterator

import numpy as np

from ...layers.attribution.collectives import distinct_pairs
from ...layers.statistics.statistics import union_length
from ...model.codes import IoFlag
from ...model.quantities import bytes_text, named_ranks, percent_text
from .evidence import Evidence, Match, ends_of
from .rules import MIB, Rule


def funnelled_collective(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find collective calls whose transfer few ranks do."""
    for flow, calls in evidence.collective():
        participants, movers = calls.participants, calls.movers
        funnelled = movers <= np.maximum(1, rule.thresholds["movers_share"] * participants)
        funnelled &= participants >= rule.thresholds["participants"]
        ranks = evidence.ranks(calls.lower_rows)
        asking = evidence.ranks(calls.upper_rows)
        moved = evidence.bytes(calls.lower_rows)
        if 2 * int(funnelled.sum()) <= len(calls) or moved < rule.thresholds["bytes"]:
            continue
        node = evidence.traffic.definitions.groups.node
        nodes = np.unique(node[evidence.traffic.operations.process[calls.lower_rows]])
        names = [evidence.traffic.definitions.system_tree.name[row] for row in nodes.tolist() if row >= 0]
        way = "leave" if flow.direction == "write" else "arrive"
        yield Match(
            flow.upper,
            f"collective {flow.upper} {flow.direction}s of {len(asking):,} ranks {way} through {flow.lower} on "
            f"{named_ranks(ranks)} only: {bytes_text(moved)} in {len(calls):,} calls",
            {
                **ends_of(flow),
                "calls": len(calls),
                "funnelled_calls": int(funnelled.sum()),
                "participants": len(asking),
                "movers": len(ranks),
                "movers_per_call": float(np.median(movers)),
                "bytes": moved,
                "nodes": names,
                "busiest_rank_share": flow.lower_ranks.busiest_share,
                **evidence.where(calls.lower_rows),
            },
        )


def collective_without_benefit(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find collective calls beneath which each rank transfers for itself and nothing is merged."""
    for flow, calls in evidence.collective(rule.thresholds["calls"]):
        alone = calls.movers == calls.participants
        merged = len(calls.upper_rows) / len(calls.lower_rows)
        exclusive = flow.exclusive_s / flow.upper_summed_s if flow.upper_summed_s else 0.0
        if 2 * int(alone.sum()) <= len(calls) or merged >= rule.thresholds["merged"]:
            continue
        if exclusive < rule.thresholds["exclusive_share"]:
            continue
        yield Match(
            flow.upper,
            f"{len(calls):,} collective {flow.upper} {flow.direction} calls: every rank transfers its own part by "
            f"{flow.lower}, {len(calls.upper_rows):,} requests became {len(calls.lower_rows):,}, and "
            f"{percent_text(exclusive)} of the time goes to coordination",
            {
                **ends_of(flow),
                "calls": len(calls),
                "upper_operations": len(calls.upper_rows),
                "lower_operations": len(calls.lower_rows),
                "exclusive_share": exclusive,
                "exclusive_s": flow.exclusive_s,
                **evidence.where(calls.upper_rows),
            },
        )


def waiting_ranks(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find collective calls in which ranks without a transfer of their own wait for those that have one."""
    from ...layers.attribution.attribution_kernel import rows_by_key
    from ...layers.attribution.group_kernels import union_by_group

    traffic = evidence.traffic
    second = traffic.window.ticks_per_second
    for flow, calls in evidence.collective():
        begin, end = traffic.times(calls.lower_rows)
        # Rows are in the order of begins, and stay so within each call.
        order, start = rows_by_key(calls.lower_call, len(calls))
        transferring = union_by_group(start, begin[order], end[order])
        idle = calls.participants - calls.movers
        waiting = float(idle @ transferring) / second
        low, high = traffic.times(calls.upper_rows)
        summed = float((high - low).sum()) / second
        if waiting < rule.thresholds["seconds"] or waiting < rule.thresholds["share"] * summed:
            continue
        ranks = evidence.ranks(calls.lower_rows)
        yield Match(
            flow.upper,
            f"in collective {flow.upper} {flow.direction}s, ranks wait {waiting:.3g} s in all while "
            f"{named_ranks(ranks)} transfer{'s' if len(ranks) == 1 else ''}: "
            f"{percent_text(waiting / summed)} of the "
            "time that all ranks spend there",
            {
                **ends_of(flow),
                "waiting_s": waiting,
                "summed_s": summed,
                "share": waiting / summed,
                "transferring_ranks": ranks,
                **evidence.where(calls.upper_rows),
            },
        )


def layer_overhead(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers that are busy while nothing moves in the next layer."""
    window = evidence.traffic.window
    for direction in ("write", "read"):
        for flow in evidence.adjacent(direction):
            if not flow.lower_operations or not flow.upper_operations:
                continue
            upper = evidence.traffic.times(flow.upper_rows)
            lower = evidence.traffic.times(np.concatenate((flow.lower_rows, flow.against)))  # of opposite directions
            both = [np.append(one, other) for one, other in zip(upper, lower, strict=True)]
            busy = union_length(*upper) / window.ticks_per_second
            idle = (union_length(both[0], both[1]) - union_length(*lower)) / window.ticks_per_second
            run = (window.end - window.start) / window.ticks_per_second
            least = max(rule.thresholds["seconds"], rule.thresholds["share_of_run"] * run)
            if idle < least or idle < rule.thresholds["share"] * busy:
                continue
            yield Match(
                flow.upper,
                f"{flow.upper} {direction}s keep the layer busy for {busy:.3g} s, and for {idle:.3g} s of it "
                f"({percent_text(idle / busy)}) nothing moves in {flow.lower}",
                {
                    **ends_of(flow),
                    "busy_s": busy,
                    "idle_below_s": idle,
                    "share": idle / busy,
                    **evidence.where(flow.upper_rows),
                },
            )


def shared_file_independent(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find files that several ranks write by independent calls: the program's own ones of each layer."""
    traffic = evidence.traffic
    for layer in traffic.layers:
        rows = evidence.rows(layer, "write")
        rows = rows[traffic.own[rows] & (traffic.moved[rows] > 0)]
        flags = traffic.operations.flags[rows]
        rows = rows[((flags & np.uint32(IoFlag.COLLECTIVE)) == 0) & (evidence.files(rows) >= 0)]
        if not len(rows):
            continue
        files = evidence.files(rows)
        ranks = distinct_pairs(files, traffic.operations.process[rows], 0)
        shared = rows[ranks[files] >= rule.thresholds["ranks"]]
        moved = evidence.bytes(shared)
        if moved < rule.thresholds["bytes"]:
            continue
        where = evidence.where(shared)
        yield Match(
            layer,
            f"{where['rank_count']:,} ranks write {bytes_text(moved)} to {where['file_count']:,} shared "
            f"file{'s' if where['file_count'] != 1 else ''} by {len(shared):,} independent {layer} operations",
            {"bytes": moved, "operations": len(shared), **where},
            "warning" if moved >= 1024 * MIB else None,
        )
