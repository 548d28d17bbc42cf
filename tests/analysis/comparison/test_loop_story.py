"""Loops in the story of a run, however it is read."""

import re

import pytest
from iostrata import open_trace
from iostrata.analysis.comparison.overview import overview_of


@pytest.mark.parametrize("archive", ["ckpt4", "ncckpt4"])
def test_bounded_memory_tells_the_same_loops(fixtures, archive):
    whole, bounded = (
        [one.text for one in overview_of(open_trace(fixtures / archive, memory=memory)).story if one.kind == "loop"]
        for memory in (None, 400_000_000)
    )
    assert whole
    assert whole == bounded


def test_a_pause_is_no_part_of_a_loop_that_goes_on_beside_it(tmp_path):
    # Two dumps, in which each rank writes files of its own one after the other.
    rows = ["layer,rank,mode,start,end,bytes,file"]
    for begin in (1.0, 61.0):
        for rank in range(4):
            for number in range(3 + rank):
                at = begin + 0.05 * number + 0.001 * rank
                rows.append(
                    f"POSIX,{rank},write,{at},{at + 0.01},{5_000_000 + 7 * number},/out/{begin:.0f}/d.{rank}.{number}"
                )
    (tmp_path / "table.csv").write_text("\n".join(rows))
    story = overview_of(open_trace(tmp_path / "table.csv")).story
    (pause,) = (one for one in story if one.kind == "pause")
    loops = [one for one in story if one.kind == "loop"]
    assert loops
    for one in loops:
        through = one.start < pause.start and one.end > pause.end
        assert through is ("before and after a pause" in one.text)
        assert not through or re.search(r"\), (mostly every [\d.]+ m?s, )?before and after a pause; ", one.text)
        assert not (through and re.search("every .* on average", one.text))
