"""Loops of real recordings in whole, with all that is said of them, as stored."""

import pytest
from iostrata import find_loops, open_trace
from iostrata.analysis.loops import words
from iostrata.analysis.loops.shared import find_shared_loops
from iostrata.analysis.loops.streams import of_stream, streams_of

RECORDINGS = (
    "aperiodic4",
    "ckpt4_jitter",
    "ior384",
    "late4",
    "mixed4",
    "ncckpt4",
    "nonblocking4",
    "serial1",
    "small_files2",
)


def told(found):
    for loop in found.loops:
        yield {
            "loop": words.loop_text(loop, found.loops),
            "layers": words.layers_called(loop, found.loops),
            "pace": words.pace_text(loop),
            "moved": words.moved_text(loop),
            "outliers": words.outlier_text(loop),
            "slow": list(words.slow_iterations(loop)),
            "blame": [words.blame_text(loop, one) for one in loop.iterations],
            "timing": words.timing_text(loop),
            "ranks": words.ranks_text(loop.ranks, 4, whole=True),
        }


@pytest.mark.parametrize("name", RECORDINGS)
def test_loops_are_those_stored(fixtures, held, name):
    found = find_loops(open_trace(fixtures / name))
    streams = streams_of(found)
    held(
        name.replace("/", "_"),
        {
            "found": found,
            "told": list(told(found)),
            "alike": [words.alike_text(group, found.loops) for group in words.alike(found.loops)],
            "titled": [text for _, text in words.titled(found, found.loops)],
            "streams": streams,
            "of streams": [of_stream(loop, one) for one in streams[:3] for loop in found.loops[:3]],
        },
    )


def test_loops_that_runs_share_are_those_stored(fixtures, held):
    found = find_shared_loops([open_trace(fixtures / name) for name in ("ckpt4", "ckpt4_jitter", "ckpt4_linktime")])
    held("shared", [one.loops for one in found])
