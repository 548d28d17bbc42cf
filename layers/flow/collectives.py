"""The collective calls of a flow: how many ranks take part in each, and how many of them do the transfer below."""

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Ints, Rows
from ...model.codes import IoFlag
from ..attribution.collectives import distinct_pairs
from ..attribution.traffic import Traffic


@dataclass(frozen=True, eq=False)
class FlowCollectives:
    """Collective calls of the upper layer in which two ranks or more take part and beneath which bytes move.

    Attributes
    ----------
    call : int64 (calls,)
        Number of each call, as in ``FlowCalls.units``, ascending.
    participants : int64 (calls,)
        Distinct ranks that made the call.
    movers : int64 (calls,)
        Distinct ranks that moved bytes in the lower layer beneath it.
    upper_rows, lower_rows : intp (n,), (m,)
        The operations of these calls, and those beneath them that moved bytes.
    upper_call, lower_call : int64 (n,), (m,)
        Place of the call of each of them in `call`.
    """

    call: Ints
    participants: Ints
    movers: Ints
    upper_rows: Rows
    lower_rows: Rows
    upper_call: Ints
    lower_call: Ints

    def __len__(self) -> int:
        return len(self.call)


def flow_collectives(
    traffic: Traffic, upper_rows: Rows, units: Ints, beneath: Rows, unit_of_beneath: Ints
) -> FlowCollectives:
    """Find the collective calls among the upper operations of a flow.

    Parameters
    ----------
    upper_rows : intp (n,)
    units : int64 (n,)
        Number of the call of each.
    beneath : intp (m,)
        Lower operations inside of them.
    unit_of_beneath : int64 (m,)
    """
    process = traffic.operations.process
    collective = (traffic.operations.flags[upper_rows] & np.uint32(IoFlag.COLLECTIVE)) != 0
    moving = traffic.moved[beneath] > 0
    below, unit_below = beneath[moving], unit_of_beneath[moving]
    count = int(units.max(initial=-1)) + 1
    participants = distinct_pairs(units[collective], process[upper_rows[collective]], count)
    movers = distinct_pairs(unit_below, process[below], count)
    chosen = (participants >= 2) & (movers > 0)
    place = np.cumsum(chosen) - 1
    above, lower = chosen[units] & collective, chosen[unit_below]
    return FlowCollectives(
        call=np.flatnonzero(chosen).astype(np.int64),
        participants=participants[chosen],
        movers=movers[chosen],
        upper_rows=upper_rows[above],
        lower_rows=below[lower],
        upper_call=place[units[above]].astype(np.int64),
        lower_call=place[unit_below[lower]].astype(np.int64),
    )
