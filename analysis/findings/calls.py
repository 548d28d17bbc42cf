"""Findings about calls of the upper layer: who does their work, and where their time goes."""

from collections.abc import Iterator

import numpy as np

from ...layers.flow.flow import Flow
from ...model.codes import IoFlag, IoMode
from ...model.quantities import bytes_text, counted, named_ranks, percent_text, seconds_text
from .evidence import Evidence, Match, ends_of
from .rules import Rule


def funnelled_collective(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find collective calls whose transfer few ranks do."""
    for found in evidence.collective():
        flow, calls = found.flow, found.calls
        participants, movers = calls.participants, calls.movers
        funnelled = movers <= np.maximum(1, rule.thresholds["movers_share"] * participants)
        funnelled &= participants >= rule.thresholds["participants"]
        ranks, asking = evidence.ranks(found.lower), evidence.ranks(found.upper)
        moved = calls.bytes.sum().item()
        if 2 * int(funnelled.sum()) <= len(calls) or moved < rule.thresholds["bytes"]:
            continue
        nodes = np.unique(evidence.definitions.groups.node[evidence.cells.process[found.lower]])
        names = [evidence.definitions.system_tree.name[row] for row in nodes.tolist() if row >= 0]
        way = "leave" if flow.direction == "write" else "arrive"
        busy, idle = idle_below(flow, evidence)
        yield Match(
            flow.upper,
            f"collective {flow.upper} {flow.direction}s of {len(asking):,} ranks {way} through {flow.lower} on "
            f"{named_ranks(ranks)} only: {bytes_text(moved)} in {len(calls):,} calls; during "
            f"{percent_text(idle / busy if busy else 0.0)} of the {seconds_text(busy)} nothing moves in {flow.lower}",
            {
                "busy_s": busy,
                "idle_below_s": idle,
                **ends_of(flow),
                "calls": len(calls),
                "funnelled_calls": int(funnelled.sum()),
                "participants": len(asking),
                "movers": len(ranks),
                "movers_per_call": float(np.median(movers)),
                "bytes": moved,
                "nodes": names,
                "busiest_rank_share": flow.lower_ranks.busiest_share,
                **evidence.where(found.lower),
            },
            cells=found.upper,
        )


def collective_without_benefit(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find collective calls beneath which each rank transfers for itself and nothing is merged."""
    for found in evidence.collective(rule.thresholds["calls"]):
        flow, calls = found.flow, found.calls
        alone = calls.movers == calls.participants
        above, below = int(calls.participants.sum()), int(calls.pieces.sum())
        merged = above / below
        exclusive = flow.exclusive_s / flow.upper_summed_s if flow.upper_summed_s else 0.0
        if 2 * int(alone.sum()) <= len(calls) or merged >= rule.thresholds["merged"]:
            continue
        if exclusive < rule.thresholds["exclusive_share"]:
            continue
        yield Match(
            flow.upper,
            f"{len(calls):,} collective {flow.upper} {flow.direction} calls: every rank transfers its own part by "
            f"{flow.lower}, {above:,} requests became {below:,}, and "
            f"{percent_text(exclusive)} of the time goes to coordination",
            {
                **ends_of(flow),
                "calls": len(calls),
                "upper_operations": above,
                "lower_operations": below,
                "exclusive_share": exclusive,
                "exclusive_s": flow.exclusive_s,
                **found.where_called(evidence),
            },
            cells=found.upper,
            cost_s=exclusive * float(evidence.rank_seconds(found.upper).max(initial=0.0)),
        )


def waiting_ranks(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find collective calls in which ranks without a transfer of their own wait for those that have one."""
    second = evidence.cells.window.ticks_per_second
    for found in evidence.collective():
        flow, calls = found.flow, found.calls
        waiting = int(calls.waiting.sum()) / second
        summed = int(calls.ticks.sum()) / second
        if waiting < rule.thresholds["seconds"] or waiting < rule.thresholds["share"] * summed:
            continue
        ranks = evidence.ranks(found.lower)
        yield Match(
            flow.upper,
            f"in collective {flow.upper} {flow.direction}s, ranks wait {seconds_text(waiting)} in all while "
            f"{named_ranks(ranks)} transfer{'s' if len(ranks) == 1 else ''}: "
            f"{percent_text(waiting / summed)} of the "
            "time that all ranks spend there",
            {
                **ends_of(flow),
                "waiting_s": waiting,
                "summed_s": summed,
                "share": waiting / summed,
                "transferring_ranks": ranks,
                **found.where_called(evidence),
            },
            "warning" if waiting >= rule.thresholds["severe_share"] * summed else "info",
            found.upper,
            # All that wait do so beside each other.
            waiting / float((calls.participants - calls.movers).mean()),
        )


def idle_below(flow: Flow, evidence: Evidence) -> tuple[float, float]:
    """Return in s how long the upper layer is busy, and for how long of it the lower one is not."""
    upper, either, lower = flow.sums.busy_ticks()
    second = evidence.cells.window.ticks_per_second
    return upper / second, (either - lower) / second


def layer_overhead(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers that are busy while nothing moves in the next layer."""
    for direction in ("write", "read"):
        for flow in evidence.adjacent(direction):
            if not flow.lower_operations or not flow.upper_operations:
                continue
            busy, idle = idle_below(flow, evidence)
            least = max(rule.thresholds["seconds"], rule.thresholds["share_of_run"] * evidence.run_s)
            if idle < least or idle < rule.thresholds["share"] * busy:
                continue
            yield Match(
                flow.upper,
                f"{flow.upper} {direction}s keep the layer busy for {seconds_text(busy)}, and for "
                f"{seconds_text(idle)} of it ({percent_text(idle / busy)}) nothing moves in {flow.lower}",
                {
                    **ends_of(flow),
                    "busy_s": busy,
                    "idle_below_s": idle,
                    "share": idle / busy,
                    **evidence.where(flow.parts["upper"]),
                },
                cells=flow.parts["upper"],
                cost_s=idle,
            )


def shared_file_independent(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find files that several ranks write by independent calls: the program's own ones of each layer."""
    cells = evidence.cells
    independent = cells.own & cells.moving & ((cells.flags & np.uint32(IoFlag.COLLECTIVE)) == 0) & (cells.file >= 0)
    for layer in cells.layers:
        mask = independent & cells.of(layer, "write")
        pairs = np.unique(np.stack((cells.file[mask], cells.process[mask])), axis=1)
        files, ranks = np.unique(pairs[0], return_counts=True)
        shared = mask & np.isin(cells.file, files[ranks >= rule.thresholds["ranks"]])
        moved = cells.bytes(shared)
        if moved < rule.thresholds["bytes"] or not shared.any():
            continue
        where = evidence.where(shared)
        yield Match(
            layer,
            f"{where['rank_count']:,} ranks write {bytes_text(moved)} to {where['file_count']:,} shared "
            f"file{'s' if where['file_count'] != 1 else ''} by {cells.operations(shared):,} independent "
            f"{layer} operations",
            {"bytes": moved, "operations": cells.operations(shared), **where},
            cells=shared,
        )


def synchronous_writes(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find writes through handles that make each of them wait for the storage."""
    cells = evidence.cells
    # The last is that of an undefined handle, -1.
    waits = np.append(evidence.trace.handle_sums.synchronous, False)[cells.handle]
    for layer in cells.layers:
        writes = cells.of(layer, "write")
        mine = writes & waits
        spent = float(evidence.rank_seconds(mine).max(initial=0.0))
        if spent < max(rule.thresholds["seconds"], rule.thresholds["share_of_run"] * evidence.run_s):
            continue
        count = cells.operations(mine)
        yield Match(
            layer,
            f"{count:,} of {counted(cells.operations(writes), f'{layer} write')} wait for the storage each, "
            f"{bytes_text(cells.bytes(mine) / max(count, 1))} at a time on average: their files are opened by "
            "O_SYNC or O_DSYNC",
            {"direction": "write", "synchronous_writes": count, **evidence.where(mine)},
            cells=mine,
        )


def flush_dominates(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers that spend more time on flushes than on writes, each flush in the highest layer where it does."""
    cells = evidence.cells
    flush = cells.selected & (cells.mode == IoMode.FLUSH)
    parent = cells.attribution.parent
    told = np.zeros(len(flush), np.bool_)
    for row, layer in enumerate(cells.layers):
        of_layer = cells.layer == row
        told |= of_layer & (parent >= 0) & told[parent]
        mask, writes = flush & of_layer & ~told, cells.of(layer, "write")
        if not mask.any():
            continue
        one = evidence.trace.layers[layer]
        flushing, writing = one.flush_busy_s, one.statistics("write").busy_s
        if flushing < rule.thresholds["seconds"] or flushing < rule.thresholds["share"] * (flushing + writing):
            continue
        told |= mask
        count = cells.operations(mask)
        yield Match(
            layer,
            f"{counted(count, 'flush', 'flushes')} keep {layer} busy for {seconds_text(flushing)}, "
            f"{counted(cells.operations(writes), 'write')} for {seconds_text(writing)}",
            {
                "flushes": count,
                "flush_s": flushing,
                "write_s": writing,
                "share": flushing / (flushing + writing),
                **evidence.where(mask),
            },
            cells=mask,
            severity=None if flushing >= rule.thresholds["run_share"] * evidence.run_s else "info",
        )
