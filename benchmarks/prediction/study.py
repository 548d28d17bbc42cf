"""Prediction of the next phase while a job runs: `watch` beside FTIO's predictor, on the same stream.

    python benchmarks/prediction/study.py                      # 200 made runs and recordings, to RESULTS.md
    python benchmarks/prediction/study.py --runs 20 --no-peer # a part; prints only

Every predictor is asked at the end of every phase and knows what had ended by then; `watch` a second time at a random
time before the next phase. The recordings are the archives in `fixtures/`, and those in the folders that
IOSTRATA_RECORDINGS names; their truth is the phases that the whole of them shows.
Constants of the prediction were chosen on seeds below 1,000; these runs have others.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import iostrata
import numpy as np
from iostrata.live.following import trace_columns
from iostrata.live.records.intake import Spans
from iostrata.model.errors import IostrataError
from made import Floats, made_run
from predictors import Ftio, Ours, Said
from tables import tables

ROOT = Path(__file__).resolve().parents[2]
FIRST_SEED = 1000
FEWEST_PHASES = 6
PEER_EVERY = 9
"""FTIO is asked of every so many streams: each answer takes it a tenth of a second. Odd, as made runs have one to four
regimes in turn."""


@dataclass(frozen=True, eq=False)
class Stream:
    """What is predicted: operations in the order of their ends, phases, and the regime and true period of each."""

    name: str
    columns: Spans
    start: Floats
    end: Floats
    regime: Floats
    period: Floats


def made_streams(runs: int) -> Iterator[Stream]:
    """Yield made runs of one to four regimes."""
    for number in range(runs):
        run = made_run(FIRST_SEED + number, 1 + number % 4)
        yield Stream(
            f"made {number}",
            Spans(run.start, run.end, run.volume),
            run.phase_start,
            run.phase_end,
            run.regime,
            np.array(run.periods)[run.regime],
        )


def recorded_streams() -> Iterator[Stream]:
    """Yield each layer and direction of the recordings that has a period, of a recording with two copies once."""
    more = filter(None, os.environ.get("IOSTRATA_RECORDINGS", "").split(os.pathsep))
    folders = [ROOT / "fixtures", *map(Path, more)]
    paths = {path.parent.name: path for folder in folders for path in folder.glob("*/*.otf2")}
    for _, path in sorted(paths.items()):
        try:
            trace = iostrata.open_trace(path)
        except IostrataError:
            continue
        for key, columns in trace_columns(trace):
            result = iostrata.detect_period(trace.layers[key.layer].bandwidth(key.direction))
            if result.periodic and len(result.phases) >= FEWEST_PHASES:
                start = np.array([phase.start for phase in result.phases])
                end = np.array([phase.end for phase in result.phases])
                begins = np.array([regime.start for regime in result.regimes])
                regime = np.maximum(np.searchsorted(begins, start, side="right") - 1, 0)
                period = np.array([one.period for one in result.regimes])[regime]
                yield Stream(f"{path.parent.name} {key.layer} {key.direction}", columns, start, end, regime, period)


def asked(stream: Stream, predictors: list[Ours | Ftio]) -> Iterator[dict[str, object]]:
    """Yield what each predictor says after each phase but the last, with the truth."""
    at, random = 0, np.random.default_rng(len(stream.columns))
    for row in range(stream.start.size - 1):
        now = float(stream.end[row])
        stop = int(np.searchsorted(stream.columns.end, now, side="right"))
        part = Spans(stream.columns.start[at:stop], stream.columns.end[at:stop], stream.columns.volume[at:stop])
        at = stop
        first = int(np.flatnonzero(stream.regime == stream.regime[row])[0])
        for predictor in predictors:
            began = time.process_time()
            said: Said = predictor.after(part, now, float(stream.start[row]))
            seconds = time.process_time() - began
            pause = float(stream.start[row + 1]) - now
            later = predictor.at(now + random.random() * pause) if isinstance(predictor, Ours) and pause > 0 else None
            yield {
                "stream": stream.name,
                "made": stream.name.startswith("made "),
                "predictor": predictor.name,
                "phase": row,
                "regime": int(stream.regime[row]),
                "of_regime": row - first,
                "goes_on": bool(stream.regime[row + 1] == stream.regime[row]),
                "true_period": float(stream.period[row]),
                "true_start": float(stream.start[row + 1]),
                "seconds": seconds,
                **asdict(said),
                "later": later and asdict(later),
            }


def main() -> None:
    """Run the study."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=200)
    arguments.add_argument("--no-peer", action="store_true", help="leave FTIO out")
    arguments.add_argument("--again", action="store_true", help="tables of the last run's results")
    wanted = arguments.parse_args()
    folder = ROOT / "build" / "prediction"
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.jsonl"
    if not wanted.again:
        results.write_text("")
        _ask_all(wanted.runs, not wanted.no_peer, results)
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    body = tables(rows)
    print(body)
    if wanted.again or (wanted.runs >= 200 and not wanted.no_peer):
        sys.path.insert(0, str(ROOT / "benchmarks"))
        from results import write_section

        write_section("Prediction of the next phase (`make prediction`)", body)


def _ask_all(runs: int, with_peer: bool, results: Path) -> None:
    """Ask about all streams, and add a line to the results for each answer."""
    environment = Path(os.environ.get("IOSTRATA_FTIO", ROOT / "build" / "ftio"))
    peer = None
    if with_peer:
        from ftio_peer import Peer

        peer = Peer(environment)
    streams = [*made_streams(runs), *recorded_streams()]
    for number, stream in enumerate(streams):
        shortest = float(stream.period.min())
        peer_too = peer is not None and number % PEER_EVERY == 0
        others = [Ftio(peer, adapts, shortest) for adapts in (False, True)] if peer_too else []
        with results.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in asked(stream, [Ours(), *others]))
        print(f"\r{number + 1} of {len(streams)} {stream.name:40}", end="", file=sys.stderr)
    print(file=sys.stderr)


if __name__ == "__main__":
    main()
