"""Real recordings replayed at default options: whether all that `watch` should say is said, and what it costs.

    python benchmarks/watching/recordings.py ARCHIVE...     # prints a table; no figures are written

Of each archive: processor time of the replay as a share of the recording's length; answers from the fourth phase on,
and how many of them tell neither a period nor why there is none; how many are as of an earlier time, which they say;
and how often the next phase began between the times that were told for it, beside the probability that was stated,
once for each phase.
"""

import math
import sys
import time
from pathlib import Path

import iostrata
import numpy as np
from iostrata.live.answer import Answer
from iostrata.live.following import replay, trace_columns
from iostrata.live.job import LiveJob
from iostrata.model.arrays import Floats

FEWEST_PHASES = 4


def foretold(answers: list[Answer], starts: dict[tuple[str, str], Floats]) -> tuple[list[float], list[bool]]:
    """Return the stated probabilities, and whether the next operation began when it was foretold."""
    stated, true, seen = [], [], dict[tuple[str, str], int]()
    for one in answers:
        key = (one.layer, one.direction)
        if one.next_start is None or one.probability is None or one.as_of is not None or one.in_phase:
            continue
        if seen.get(key) != one.phases:
            seen[key] = one.phases
            row = int(np.searchsorted(starts[key], one.time, side="right"))
            came = float(starts[key][row]) if row < len(starts[key]) else math.inf
            stated.append(one.probability)
            true.append(one.next_start[0] <= came <= one.next_start[1])
    return stated, true


def main() -> None:
    """Replay all archives that are named."""
    every: tuple[list[float], list[bool]] = ([], [])
    print("archive                  length  processor  answers  silent  earlier  stated  true  phases")
    for name in sys.argv[1:]:
        trace = iostrata.open_trace(name)
        starts = {(key.layer, key.direction): np.sort(own.start) for key, own in trace_columns(trace)}
        # Compiled code is loaded in the first one.
        list(replay(LiveJob(), trace, trace.duration / 5))
        began = time.process_time()
        updates = list(replay(LiveJob(), trace, None))
        share = (time.process_time() - began) / trace.duration
        answers = [one for update in updates[:-1] for one in update.answers]
        told = [one for one in answers if one.phases >= FEWEST_PHASES]
        silent = sum(one.period is None and not one.reason for one in told)
        earlier = sum(one.as_of is not None for one in told)
        stated, true = foretold(answers, starts)
        for whole, more in zip(every, (stated, true), strict=True):
            whole += more
        print(
            f"{Path(name).name:24} {trace.duration:5.1f}s {share:9.1%} {len(told):8} {silent:7} {earlier:8} "
            f"{np.mean(stated) if stated else math.nan:7.2f} {np.mean(true) if true else math.nan:5.2f} {len(true):7}"
        )
    if every[0]:
        print(f"all: stated {np.mean(every[0]):.3f}, true {np.mean(every[1]):.3f} of {len(every[0])} phases")


if __name__ == "__main__":
    main()
