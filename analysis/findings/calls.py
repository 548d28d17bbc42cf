"""Findings about calls of an upper layer: who does their work, and where their time goes."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ...layers.flow.flow import Flow
from ...model.quantities import bytes_text, counted, named_ranks, percent_text, seconds_text
from .amplification import needless_share
from .counted import CountedFacts
from .facts import LEAST_SHARE, MIB, CollectiveFlow, Facts, Gain, Match, ends_of
from .rule import finding

_BY_VIEW: Final = (
    "the library works or waits while nothing moves below, as where a file's view makes data many small parts; parts "
    "that lie together"
)


def _funnelled_counted(counters: CountedFacts, *, participants: float, least_bytes: float) -> Iterator[Match]:
    """Find a rank that moves most of what all ranks ask for by collective calls on a file."""
    for direction in ("write", "read"):
        found = counters.pair("MPI-IO", "POSIX", direction)
        if found is None or counters.processes < participants:
            continue
        upper, lower = found
        moved, rank, own = lower.busiest
        if 2 * upper.collective_share < 1 or moved < least_bytes or 2 * own < moved:
            continue
        way = "leave" if direction == "write" else "arrive"
        yield counters.match(
            upper,
            f"{upper.operations:,} MPI-IO {direction}s of {counters.processes:,} ranks, "
            f"{percent_text(upper.collective_share)} of them collective, {way} through POSIX mostly on rank {rank}: "
            f"{bytes_text(own)} of {bytes_text(moved)}",
            {"upper": "MPI-IO", "lower": "POSIX", "participants": counters.processes, "bytes": moved},
            rows=lower.rows,
            share=1 - moved / own / counters.processes,
        )


@finding(
    needs=("ranks", "collective"),
    units={"participants": "count", "movers": "count", "movers_per_call": "count"},
    counted=_funnelled_counted,
)
def funnelled_collective(
    facts: Facts, *, movers_share: float = 0.25, participants: float = 2, least_bytes: float = MIB
) -> Iterator[Match]:
    """At most a quarter of the ranks of a collective call transfer, in most calls.

    Parameters
    ----------
    movers_share : share
        Of the ranks of a call. More of them usually keep the storage busy.
    participants : count
        A call of one rank cannot be spread.
    least_bytes : byte
        For less, one writer is as good as any.

    Notes
    -----
    :In short: collective {direction} go through {who} only{meanwhile}; more aggregators{unless}.
    :Why: One process writes at the speed of one process, and the others send it their data first.
    :How it is measured: Ranks that moved bytes below the call over ranks that took part; cost is the time in the calls,
        and the text says for how much of it nothing moves below.
    :When it is wrong: Few writers are right for little data, or where one node is as fast as the file system; compare
        with independent calls. Where most of the time nothing moves below, ranks exchange data or wait: if it is for a
        processor, as where more ranks run than there are, no aggregator shortens it.
    :What helps: More aggregators: OMPI_MCA_io_ompio_num_aggregators of OMPIO, ROMIO's hints cb_nodes and
        cb_config_list, and as many Lustre stripes (lfs setstripe -c). For little data per rank, or data that is
        contiguous per rank, compare with independent calls.
    """
    for found in facts.collective():
        flow, calls = found.flow, found.calls
        funnelled = calls.movers <= np.maximum(1, movers_share * calls.participants)
        funnelled &= calls.participants >= participants
        ranks, asking = facts.ranks_of(found.lower), facts.ranks_of(found.upper)
        moved = calls.bytes.sum().item()
        if 2 * int(funnelled.sum()) <= len(calls) or moved < least_bytes:
            continue
        nodes = np.unique(facts.definitions.groups.node[facts.cells.process[found.lower]])
        names = [facts.definitions.system_tree.name[row] for row in nodes.tolist() if row >= 0]
        way = "leave" if flow.direction == "write" else "arrive"
        busy, idle = idle_below(facts, flow, [flow])
        cost, below = facts.longest_s(found.upper), facts.longest_s(found.lower)
        spread, waits = below * len(ranks) / len(asking), 2 * idle > busy
        least = 0.0 if waits else below / 2
        none = "nothing, if ranks wait for a processor or each other while nothing moves"
        half = f"half of the {seconds_text(below)} in {flow.lower}, by twice as many ranks"
        while_idle = f", and for {percent_text(idle / busy)} of their time nothing moves below" if waits else ""
        unless = ", if ranks do not wait for a processor," if waits else ""
        if waits and facts.has_views(flow.upper):
            unless = ", or parts of the file that lie together in its view,"
        yield Match(
            flow.upper,
            f"collective {flow.upper} {flow.direction}s of {len(asking):,} ranks {way} through {flow.lower} on "
            f"{named_ranks(ranks)} only: {bytes_text(moved)} in {counted(len(calls), 'call')}; during "
            f"{percent_text(idle / busy if busy else 0.0)} of the {seconds_text(busy)} nothing moves in {flow.lower}",
            {
                "busy_s": busy,
                "idle_below_s": idle,
                **ends_of(flow),
                "calls": len(calls),
                "funnelled_calls": int(funnelled.sum()),
                "participants": len(asking),
                "movers": len(ranks),
                "movers_per_call": float(np.median(calls.movers)),
                "bytes": moved,
                "nodes": names,
                "busiest_rank_share": flow.lower_ranks.ranks.busiest_share,
                **({"meanwhile": while_idle, "unless": unless} if waits else {}),
            },
            cells=found.upper,
            cost_s=cost,
            gain=Gain(
                (least, max(below / 2, cost - spread)),
                f"from {none if waits else half}, to all but {seconds_text(spread)}, by all ranks and without waiting",
            ),
            where=facts.where(found.lower),
        )


@finding(needs=("collective",), by_time=True)
def collective_without_benefit(
    facts: Facts, *, calls: float = 4, merged: float = 1.1, exclusive_share: float = 0.1
) -> Iterator[Match]:
    """Beneath collective calls every rank transfers its own part and nothing is merged.

    Parameters
    ----------
    calls : count
        Of fewer calls one cannot say what the library usually does.
    merged : times
        Requests above over requests below: a few that happen to be merged are no benefit.
    exclusive_share : share
        Of the time in the calls in which nothing runs below. Less coordination than this costs little.

    Notes
    -----
    :In short: collective calls take time to coordinate and merge nothing; independent calls.
    :Why: Coordination costs and brings nothing.
    :How it is measured: Requests above over requests below, and the share of the calls in which nothing runs below.
        Not where files have views (MPI_File_set_view): how many parts of the file a call asks for is not recorded.
    :When it is wrong: A library may decide call by call; where some calls do merge, keep them.
    :What helps: Requests that are large and contiguous per rank can use independent calls (MPI_File_write_at,
        nc_var_par_access NC_INDEPENDENT, H5FD_MPIO_INDEPENDENT), or switch collective buffering off:
        ROMIO's romio_cb_write=disable.
    """
    for found in facts.collective(calls):
        flow = found.flow
        if facts.has_views(flow.upper):
            # What a rank writes as one piece may be small parts of all ranks.
            continue
        alone = int((found.calls.movers == found.calls.participants).sum())
        above, below = int(found.calls.participants.sum()), int(found.calls.pieces.sum())
        exclusive = flow.exclusive_s / flow.upper_summed_s if flow.upper_summed_s else 0.0
        if 2 * alone <= len(found.calls) or above / below >= merged or exclusive < exclusive_share:
            continue
        yield Match(
            flow.upper,
            f"{counted(len(found.calls), f'collective {flow.upper} {flow.direction} call')}: every rank transfers its"
            f" own part by {flow.lower}, {above:,} requests became {below:,}, and {percent_text(exclusive)} of the time"
            " goes to coordination",
            {
                **ends_of(flow),
                "calls": len(found.calls),
                "upper_operations": above,
                "lower_operations": below,
                "exclusive_share": exclusive,
                "exclusive_s": flow.exclusive_s,
            },
            cells=found.upper,
            where=found.where_called(facts),
            cost_s=exclusive * facts.longest_s(found.upper),
            gain=Gain(
                (exclusive * _beyond_fastest(found, facts), exclusive * facts.longest_s(found.upper)),
                "from all calls as long as the fastest quarter, to no coordination at all",
            ),
        )


@finding(needs=("ranks", "collective"), follows=("funnelled-collective",), by_time=True)
def waiting_ranks(facts: Facts, *, least_share: float = 0.05, least_s: float = 0.01) -> Iterator[Match]:
    """Ranks without a transfer of their own wait in collective calls.

    Parameters
    ----------
    least_share : share
        Of the time that all ranks spend in the calls. Ranks never return at the same instant.
    least_s : s
        Less is lost in the time that a message takes.

    Notes
    -----
    :In short: ranks wait in collective calls while others transfer; sharing the transfers.
    :Why: They could compute.
    :How it is measured: For each call the ticks in which others transfer while a rank that moves nothing is in the
        call; cost is the mean of those that wait. Beside ``funnelled-collective``, from which it follows, it is for
        information.
    :When it is wrong: What ranks do inside the call is not seen: they may send data meanwhile.
    :What helps: More aggregators (OMPI_MCA_io_ompio_num_aggregators, ROMIO's cb_nodes), non-blocking collective calls
        (MPI_File_iwrite_at_all), or let dedicated I/O ranks write while the others compute.
    """
    second = facts.cells.window.ticks_per_second
    for found in facts.collective():
        flow, calls = found.flow, found.calls
        waiting, summed = int(calls.waiting.sum()) / second, int(calls.ticks.sum()) / second
        if waiting < least_s or waiting < least_share * summed:
            continue
        ranks = facts.ranks_of(found.lower)
        yield Match(
            flow.upper,
            f"in collective {flow.upper} {flow.direction}s, ranks wait {seconds_text(waiting)} in all while "
            f"{named_ranks(ranks)} transfer{'s' if len(ranks) == 1 else ''}: {percent_text(waiting / summed)} of the "
            "time that all ranks spend there",
            {
                **ends_of(flow),
                "waiting_s": waiting,
                "summed_s": summed,
                "share": waiting / summed,
                "transferring_ranks": ranks,
            },
            cells=found.upper,
            where=found.where_called(facts),
            # All that wait do so beside each other.
            cost_s=(cost := waiting / float((calls.participants - calls.movers).mean())),
            gain=Gain((cost / 2, cost), "by twice as many ranks that transfer, and without waiting"),
        )


def _layer_overhead_counted(
    counters: CountedFacts, *, least_share: float, least_s: float, share_of_run: float
) -> Iterator[Match]:
    """Find what the slowest rank spends longer in MPI-IO than any rank does in POSIX on the same files."""
    for direction in ("write", "read"):
        found = counters.pair("MPI-IO", "POSIX", direction)
        if found is None:
            continue
        above, _ = counters.longest(found[0].rows, direction)
        # Data sieving reads for writes.
        below, _ = counters.longest(counters.layer_on_files("POSIX", found[1]), "read", "write")
        idle = above - below
        if idle < max(least_s, share_of_run * counters.run_s) or idle < least_share * above:
            continue
        yield counters.match(
            found[0],
            f"MPI-IO {direction}s take the slowest rank {seconds_text(above)}, those of POSIX below them "
            f"{seconds_text(below)}: {percent_text(idle / above)} is spent in the library",
            {"upper": "MPI-IO", "lower": "POSIX", "busy_s": above, "idle_below_s": idle, "share": idle / above},
            cost_s=idle,
        )


@finding(
    needs=("recorded handles",),
    explained_by={
        "funnelled-collective": 0.5,
        "collective-without-benefit": 0.5,
        "slow-iteration": 0.5,
        "late-arrivals": 0.5,
        "compression": 0.5,
    },
    by_time=True,
    counted=_layer_overhead_counted,
)
def layer_overhead(
    facts: Facts, *, least_share: float = 0.5, least_s: float = 0.01, share_of_run: float = 0.001
) -> Iterator[Match]:
    """A layer is busy while nothing moves below it.

    Parameters
    ----------
    least_share : share
        Of the time in which the layer is busy. Every call does some work of its own.
    least_s : s
        Less is what libraries take to start.
    share_of_run : share
        Less makes no run faster.

    Notes
    -----
    :In short: the library works or waits while nothing moves below; fewer and larger calls.
    :Why: Packing, conversion, communication or waiting in the library.
    :How it is measured: Union of the layer's operations less the time in which any layer below has one for it; no more
        than the rank longest in these operations spends there. Time that goes with bytes written again, or read though
        nobody asked for them, is that of ``write-amplification`` and ``read-amplification``.
    :When it is wrong: Data that a library keeps in memory moves later.
    :What helps: The time goes to communication, packing, conversion or waiting inside the library: fewer and larger
        calls, data types that match the file's, fewer ranks per call.
    """
    least = max(least_s, share_of_run * facts.run_s)
    for flow in facts.adjacent("write", "read"):
        below = [one for one in facts.flows if (one.upper, one.direction) == (flow.upper, flow.direction)]
        # Of several layers below, such as ISO C for a header and POSIX for the rest, the one that moves most.
        most = max(one.lower_bytes for one in below if one.adjacent)
        if not flow.lower_operations or not flow.upper_operations or flow.lower_bytes < most:
            continue
        busy, idle = idle_below(facts, flow, below)
        if idle < least or idle < least_share * busy:
            continue
        again = max(map(needless_share, below))
        what = "written again" if flow.direction == "write" else "read too much"
        needless = f", {percent_text(again)} of it for what is {what} there" if again else ""
        yield Match(
            flow.upper,
            f"{flow.upper} {flow.direction}s keep the layer busy for {seconds_text(busy)}, and for {seconds_text(idle)}"
            f" of it ({percent_text(idle / busy)}) nothing moves in {_busy_below(facts, flow, below)}{needless}",
            {
                **ends_of(flow),
                "busy_s": busy,
                "idle_below_s": idle,
                "share": idle / busy,
                **({"in_short": _BY_VIEW} if facts.has_views(flow.upper) else {}),
            },
            cells=flow.parts["upper"],
            cost_s=min(idle, facts.longest_s(flow.parts["upper"])) * (1 - again),
        )


def _beyond_fastest(found: CollectiveFlow, facts: Facts) -> float:
    """Return in s what calls take longer than if all took as long as the fastest quarter of them at most."""
    ticks = found.calls.end - found.calls.begin
    return float(np.maximum(0, ticks - np.quantile(ticks, 0.25)).sum()) / facts.cells.window.ticks_per_second


def idle_below(facts: Facts, flow: Flow, below: Sequence[Flow]) -> tuple[float, float]:
    """Return in s how long the upper layer is busy, and for how long of it no lower one of the flows `below` is."""
    busy, idle = flow.sums.idle_ticks([one.sums for one in below])
    second = facts.cells.window.ticks_per_second
    return busy / second, idle / second


def _busy_below(facts: Facts, flow: Flow, below: Sequence[Flow]) -> str:
    """Return the layers in which something moves for 1 % of the time of the upper one, each beyond those above it."""
    named: list[Flow] = []
    for one in below:
        busy, idle = idle_below(facts, flow, named)
        if idle - idle_below(facts, flow, [*named, one])[1] >= LEAST_SHARE * busy:
            named.append(one)
    return " or ".join(one.lower for one in named) or flow.lower
