"""Recordings of which two layers contradict each other: other counts or periods of one loop, or a verdict against it.

``python benchmarks/loops/layers.py FOLDER...`` lists them; each folder has recordings.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import iostrata
from iostrata.analysis.comparison.iterations import loops_of
from iostrata.analysis.comparison.layer_periods import layer_periods
from iostrata.analysis.comparison.layers import compare_layers
from iostrata.layers.trace import Trace

_AGAINST = {"absent-above", "absent-below", "smeared", "split", "harmonic"}


def contradictions(trace: Trace) -> Iterator[str]:
    """Give what layers of one loop disagree on, in words."""
    found = list(layer_periods(trace.layers.values(), loops=loops_of(trace)))
    of_loops: dict[tuple[int, str | None], list[str]] = {}
    for one in found:
        if one.loop is not None:
            text = f"{one.loop.iterations} iterations, period {one.result.period}"
            of_loops.setdefault((one.loop.id, one.direction), []).append(text)
    for (loop, direction), texts in of_loops.items():
        if len(set(texts)) > 1:
            yield f"loop {loop}, {direction}: {' | '.join(texts)}"
    compared = compare_layers(trace, known=found)
    for place, pair in compared.periods.items():
        by, flow = pair.by_iteration, compared.flows[place]
        name = f"{flow.upper} → {flow.lower} {flow.direction}"
        if by is None or by.verdict == "cached":
            continue
        if by.upper_iterations != by.lower_iterations:
            yield f"{name}: {by.upper_iterations} iterations above, {by.lower_iterations} below"
        if pair.verdict in _AGAINST:
            yield f"{name}: {pair.verdict}, {by.verdict} by iteration"


def main(folders: list[str]) -> None:
    """Print the contradictions in all recordings of some folders, and how many were looked at."""
    looked_at, compared = 0, 0
    for path in sorted(one for folder in folders for one in Path(folder).iterdir() if one.is_dir()):
        try:
            trace = iostrata.open_trace(path)
        except iostrata.IostrataError:
            continue
        looked_at += 1
        if loops_of(trace) is None:
            continue
        compared += any(one.by_iteration is not None for one in compare_layers(trace).periods.values())
        for text in contradictions(trace):
            print(f"{path.name}: {text}")
    print(f"{looked_at} recordings, {compared} of them with loops in two layers")


if __name__ == "__main__":
    main(sys.argv[1:])
