"""The last live answer beside the offline one on the same data, of every layer and direction of all recordings.

    python benchmarks/watching/equality.py     # to RESULTS.md

The recordings are the archives in `fixtures/`, and those in the folders that IOSTRATA_RECORDINGS names. Each is
replayed in 1, 7 and 100 updates, and told as JSON lines that are cut into pieces of random lengths with updates in
between, by one source and by one for each layer and direction. Period, its interval, confidence, phases, regime and the
reason in words are compared, and the bytes; where the period is that of what repeats in its contents these alone.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import iostrata
import numpy as np
from iostrata.live.answer import Answer
from iostrata.live.following import replay, trace_columns
from iostrata.live.job import LiveJob
from iostrata.live.records.intake import Key, Spans
from iostrata.live.records.lines import LineReader
from iostrata.live.signal import EXACT
from iostrata.model.errors import IostrataError

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import write_section

ROOT = Path(__file__).resolve().parents[2]
UPDATES = (1, 7, 100)
FEWEST_PHASES = 4
DIGITS = {"exact": 1e-9, "bins": 1e-6}
"""Shares by which numbers differ at most: bins know the insides of bursts no better."""
BY_CONTENTS = "Iteration"
"""What the reason of an answer has whose period is that of what repeats in its contents: `periods` goes by times."""


def ways(trace: "iostrata.Trace") -> Iterator[tuple[str, list[Answer]]]:
    """Yield each way in which a trace is told, and the last answers."""
    for updates in UPDATES:
        *_, last = replay(LiveJob(), trace, trace.duration / updates)
        yield f"replayed in {updates} updates", last.answers
    columns = list(trace_columns(trace))
    for seed, apart in ((1, False), (2, True)):
        yield (
            f"lines in pieces of {'several sources' if apart else 'one source'}",
            in_pieces(trace, columns, seed, apart),
        )


def in_pieces(trace: "iostrata.Trace", columns: list[tuple[Key, Spans]], seed: int, apart: bool) -> list[Answer]:
    """Return the last answers of lines that are cut anywhere, of one source or of one a layer and direction."""
    random, job = np.random.default_rng(seed), LiveJob()
    streams = [lines_of([one]) for one in columns] if apart else [lines_of(columns)]
    readers = [(LineReader(job.intake), data) for data in streams]
    at = [0] * len(readers)
    while any(place < len(data) for place, (_, data) in zip(at, readers, strict=True)):
        for row, (reader, data) in enumerate(readers):
            length = int(random.integers(1, 2 * len(data) // 40 + 2))
            reader.feed(data[at[row] : at[row] + length])
            at[row] += length
        job.take()
        if job.intake.clock.now is not None:
            job.answers(trace.window[0], job.intake.clock.now)
    return job.answers(*trace.window, last=True)


def lines_of(columns: list[tuple[Key, Spans]]) -> bytes:
    """Return operations as lines in the order in which they ended."""
    rows = [
        (end, {"layer": key.layer, "mode": key.direction, "start": start, "end": end, "bytes": moved})
        for key, own in columns
        for start, end, moved in zip(own.start.tolist(), own.end.tolist(), own.volume.tolist(), strict=True)
    ]
    return b"".join(json.dumps(row).encode() + b"\n" for _, row in sorted(rows, key=lambda row: row[0]))


def different(answer: Answer, offline: "iostrata.PeriodResult", moved: int, digits: float) -> list[str]:
    """Return the names of what is different."""
    if BY_CONTENTS in answer.reason:
        return [] if answer.bytes == moved else ["bytes"]
    latest = offline.regimes[-1] if offline.regimes else None
    told = offline.reason.replace("the clear regime that moved most", "the latest regime")
    pairs = {
        "periodic": (answer.periodic, offline.periodic),
        "phases": (answer.phases, len(offline.phases)),
        "bytes": (answer.bytes, moved),
        # What would settle the period is told of the latest regime.
        "reason": (answer.reason[-len(told) :], told),
        "period": (answer.period, latest and latest.period),
        "confidence": (answer.confidence, latest.confidence if latest else offline.confidence),
        "regime_start": (answer.regime_start, latest and latest.start),
    }
    if len(offline.regimes) == 1:
        pairs["period_interval"] = answer.period_interval, offline.period_interval
    return [name for name, (one, other) in pairs.items() if not same(one, other, digits)]


def same(one: object, other: object, digits: float) -> bool:
    """Tell whether two values are equal, numbers up to a share."""
    if one is None or other is None or isinstance(one, str | bool):
        return one == other
    return bool(np.allclose(np.asarray(one, float), np.asarray(other, float), rtol=digits, atol=digits))


def main() -> None:
    """Compare all recordings."""
    more = filter(None, os.environ.get("IOSTRATA_RECORDINGS", "").split(os.pathsep))
    folders = [ROOT / "fixtures", *map(Path, more)]
    paths = sorted(path for folder in folders for path in folder.glob("*/*.otf2"))
    archives, signals, with_phases = 0, 0, 0
    compared: Counter[str] = Counter()
    wrong: list[str] = []
    for path in paths:
        try:
            trace = iostrata.open_trace(path)
            offline = {
                key: iostrata.detect_period(trace.layers[key.layer].bandwidth(key.direction))
                for key, _ in trace_columns(trace)
            }
        except IostrataError as error:
            print(f"{path.parent.name}: {error}", file=sys.stderr)
            continue
        moved = {key: (int(own.volume.sum()), len(own)) for key, own in trace_columns(trace)}
        archives += 1
        signals += len(offline)
        with_phases += sum(len(result.phases) >= FEWEST_PHASES for result in offline.values())
        for way, answers in ways(trace):
            if {Key(one.layer, one.direction) for one in answers} != set(offline):
                wrong.append(f"{path.parent.name}, {way}: layers differ")
            for answer in answers:
                key = Key(answer.layer, answer.direction)
                volume, operations = moved[key]
                kind = "exact" if operations <= EXACT else "bins"
                compared[kind] += 1
                compared[BY_CONTENTS] += BY_CONTENTS in answer.reason
                names = different(answer, offline[key], volume, DIGITS[kind])
                if names:
                    compared[f"{kind} different"] += 1
                    wrong.append(f"{path.parent.name} {key.layer} {key.direction}, {way}: {', '.join(names)}")
        print(f"{path.parent.name}: {len(wrong)} different so far", file=sys.stderr)
    total = compared["exact"] + compared["bins"]
    body = "\n".join(
        [
            f"{archives} archives with {signals} layers and directions that moved bytes, {with_phases} of them with at "
            f"least {FEWEST_PHASES} phases, each told in {len(UPDATES) + 2} ways: {total:,} last answers.",
            "",
            f"Up to {EXACT:,} operations: {compared['exact']:,} compared, {compared['exact different']} differ from "
            f"`periods`. More, on the grid: {compared['bins']} compared, {compared['bins different']} differ. "
            f"Of {compared[BY_CONTENTS]} the period is that of what repeats in contents: only bytes are compared.",
            *([""] if wrong else []),
            *(f"- {one}" for one in wrong),
        ]
    )
    print(body)
    write_section("The last live answer is the offline one (`make watching`)", body)


if __name__ == "__main__":
    main()
