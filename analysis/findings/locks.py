"""Findings about locks of files, which processes wait for outside of reads and writes."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from ...layers.attribution.calls.calls import CALL_KINDS
from ...layers.attribution.calls.functions import FUNCTION
from ...model.quantities import counted, percent_text, seconds_text
from .facts import MUCH_OF_RUN, Facts, Gain, Match
from .rule import finding

LOCKS: Final = ("fcntl", "fcntl64", "flock", "lockf", "lockf64")
"""Functions that wait for a lock of a file, and do hardly anything else that takes time."""


@finding(needs=("metadata",), by_time=True, outside_io=True)
def lock_waiting(facts: Facts, *, share_of_run: float = MUCH_OF_RUN, least_s: float = 0.01) -> Iterator[Match]:
    """Locks of files take 2 % of the run.

    Parameters
    ----------
    share_of_run : share
        Less makes no run faster.
    least_s : s
        Less is a single access of a disk.

    Notes
    -----
    :In short: processes wait for locks of files; own parts of the file without locks
    :Why: One process at a time does what it does under the lock, and all others wait.
    :How it is measured: From Enter to Leave of fcntl, flock and lockf, and of what else the recorder says to lock a
        file; cost is the time of the rank that is longest in them. Of fcntl no record tells which file it is.
    :When it is wrong: On one file system a lock is got at once, on another each one asks a server: then it is the lock
        itself that takes long, and fewer of them help. fcntl does other things, too, which take no time.
    :What helps: Let each process write a part of the file of its own (pwrite at an offset that follows from its rank),
        or one file each, so that none needs a lock; else keep little between lock and unlock: no computing and no
        flush; lock the bytes that are written rather than all of the file, or hand records to one process that writes.
    """
    calls = facts.trace.calls.totals
    if calls is None:
        return
    every, names = calls.metadata, calls.functions.regions.name
    locks = np.array([name in LOCKS for name in names] + [False])
    every = every.taken((locks[every.keys[5]] | np.isin(every.keys[1], CALL_KINDS["locks"])) & (every.keys[2] >= 0))
    for row, layer in enumerate(facts.cells.layers):
        sums = every.taken(every.keys[0] == row)
        took = facts.seconds_of(sums)
        longest = 0.0 if took is None else min(float(took.max(initial=0.0)), facts.run_s)
        if took is None or longest < max(least_s, share_of_run * facts.run_s):
            continue
        function = names[sums.keys[5][sums["ticks"].argmax()]] if locks[sums.keys[5][sums["ticks"].argmax()]] else ""
        count = int(sums["calls"].sum())
        where = f" of {function}" if function else " that lock files or unlock them"
        yield Match(
            layer,
            f"{counted(count, 'call')}{where} take a rank up to {seconds_text(longest)}, "
            f"{percent_text(longest / facts.run_s)} of the run, and {seconds_text(took.sum())} in all: processes wait "
            "for locks of files",
            {"lock_calls": count, "lock_s": float(took.sum()), "longest_s": longest},
            where={
                **({FUNCTION: function} if function else {}),
                **facts.who(sums.keys[2]),
                **facts.on_files(sums.keys[4], sums["ticks"]),
                "time_range_s": facts.extent(sums["begin"], sums["end"]),
            },
            cost_s=longest,
            gain=Gain((0.0, longest), "from nothing, if what is done under a lock must not overlap, to all of it"),
        )
