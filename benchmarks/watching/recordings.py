"""Real recordings replayed at default options: whether `watch` says all that it should, and what that costs.

    python benchmarks/watching/recordings.py ARCHIVE...             # writes a section of benchmarks/RESULTS.md
    python benchmarks/watching/recordings.py --peer FOLDER ARCHIVE...  # beside FTIO's predictor, installed in FOLDER

Of each archive: processor time as a share of the recording's length, of all updates but the last, which is
`periods` on all of it; and what `judged` says of the lines. With ``--peer`` also by how much the next start was missed
by `watch` and by FTIO, asked at the end of each phase of every stream with a period; medians, as shares of the period.
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import median

import iostrata
import numpy as np
from iostrata.live.budget import dearer
from iostrata.live.following import replay, trace_columns
from iostrata.live.job import LiveJob
from judged import HEAD, Judged, judged

sys.path += [str(Path(__file__).resolve().parents[1] / folder) for folder in ("", "prediction", "accuracy")]
from results import write_section

TITLE = "`watch` on recordings that are replayed (`python benchmarks/watching/recordings.py`)"
MOST_ASKED = 20
"""Phases of a stream after which FTIO is asked, at most: each answer takes it a tenth of a second."""


def replayed(trace: "iostrata.Trace") -> tuple[float, Judged]:
    """Replay a trace at default options; return the share of a core, and what became of the lines."""
    # Compiled code is loaded in the first one.
    list(replay(LiveJob(), trace, trace.duration / 5))
    job, lines, share = LiveJob(), [], 0.0
    then = began = time.process_time()
    for update in replay(job, trace, None):
        lines += [update.line(one) for one in update.answers]
        if not update.last:
            used, then = time.process_time() - then, time.process_time()
            # As beside a job that runs.
            job.settle(dearer(used, trace.duration / 100, job.counted))
            share = (then - began) / trace.duration
    return share, judged(lines, trace_columns(trace))


def beside(trace: "iostrata.Trace", peer: object) -> str:
    """Return by how much `watch` and FTIO miss the next start, in cells."""
    from predictors import Ftio, Ours
    from study import FEWEST_PHASES, Stream, asked

    off: dict[str, list[float]] = {}
    for key, columns in trace_columns(trace):
        result = iostrata.detect_period(trace.layers[key.layer].bandwidth(key.direction))
        if not result.periodic or len(result.phases) < FEWEST_PHASES:
            continue
        phases = result.phases[:MOST_ASKED]
        start, end = (np.array([getattr(one, name) for one in phases]) for name in ("start", "end"))
        begins = np.array([regime.start for regime in result.regimes])
        regime = np.maximum(np.searchsorted(begins, start, side="right") - 1, 0)
        period = np.array([one.period for one in result.regimes])[regime]
        stream = Stream(key.layer, columns, start, end, regime, period)
        predictors = [Ours(), Ftio(peer, True, float(period.min()))]
        for row in asked(stream, predictors):
            if row["of_regime"] >= FEWEST_PHASES - 3 and row["goes_on"]:
                missed = 1.0 if row["start"] is None else abs(row["start"] - row["true_start"]) / row["true_period"]
                off.setdefault(row["predictor"], []).append(min(missed, 1.0))
    return " | ".join(f"{median(own):.1%}" for own in off.values()) if off else "– | –"


def main() -> None:
    """Replay all archives that are named."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("archives", nargs="+")
    arguments.add_argument("--peer", type=Path)
    wanted = arguments.parse_args()
    peer = None
    if wanted.peer is not None:
        from ftio_peer import Peer

        peer = Peer(wanted.peer)
    every = Judged()
    ftio = "" if peer is None else " | next start off | FTIO's off"
    lines = [f"| recording | length | share of a core | {HEAD}{ftio} |"]
    lines.append("|---" * (3 + HEAD.count("|") + 1 + ftio.count("|")) + "|")
    for archive in wanted.archives:
        trace, name = iostrata.open_trace(archive), Path(archive).parent.name
        share, found = replayed(trace)
        found.wrong = [f"{name} {one}" for one in found.wrong]
        every.add(found)
        more = "" if peer is None else f" | {beside(trace, peer)}"
        lines.append(f"| {name} | {trace.duration:.1f} s | {share:.2%} | {found.row()}{more} |")
        print(lines[-1], flush=True)
    lines.append(f"| all | | | {every.row()}{' | | ' if peer else ''} |")
    lines += ["", *(f"- {one}" for one in every.wrong)]
    write_section(TITLE, "\n".join(lines))


if __name__ == "__main__":
    main()
