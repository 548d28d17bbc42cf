"""Archives of sound files that do not belong to one another: each is told, by both engines, and sound ones are not."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from iostrata.model.definitions import Clock
from iostrata.model.stream.extents import EXTENT, Extents, contradictions
from iostrata.model.stream.source import Tally
from iostrata.otf2io.source import open_source

DAMAGE = Path(__file__).parents[2] / "benchmarks" / "damage"
TICKS = 1000


@pytest.fixture(scope="module")
def mixtures() -> Iterator[ModuleType]:
    """Return what mixes the files of archives."""
    before = set(sys.modules)
    sys.path.insert(0, str(DAMAGE))
    try:
        import mixtures  # type: ignore[import-not-found]

        yield mixtures
    finally:
        sys.path.remove(str(DAMAGE))
        for name in set(sys.modules) - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(DAMAGE)):
                del sys.modules[name]


def test_files_that_are_not_of_one_run_are_told_by_both_engines(mixtures: ModuleType, tmp_path: Path) -> None:
    assert len(mixtures.WAYS) >= 40
    warned = 0
    for number in range(len(mixtures.WAYS)):
        name, way = mixtures.mixed_archive(number, tmp_path / "mixed").split(": ")
        results = [mixtures.told(tmp_path / "mixed", engine) for engine in ("direct", "library")]
        assert results[0][0] == results[1][0], (name, way)
        if results[0][0]:
            warned += 1
        else:
            sound = mixtures.told(mixtures.FIXTURES / name, "direct")[1]
            assert mixtures.how_alike(results[0][1], sound) != "SILENT", (name, way)
    assert warned >= 40


def test_what_is_known_of_files_is_the_same_by_both_engines(fixtures: Path) -> None:
    for name in ("ckpt4_tsc", "threads2", "ckpt4_compiler_flush"):
        known = []
        for engine in ("direct", "library"):
            source = open_source(fixtures / name, engine)
            assert not Tally.of(source).damage.damaged
            known.append(source.walk.extents)
        assert (known[0] == known[1]).all()
        assert (known[0]["end"] > known[0]["begin"]).all()
        assert known[0]["print"].all()


def extents(begin: list[int], end: list[int], length: int = 100 * TICKS, **known: list[int]) -> tuple[Extents, ...]:
    """Return those of as many processes of one location each, in milliseconds."""
    count = len(begin)
    table = np.zeros(count, EXTENT)
    table["resynchronised"] = -1
    for name, column in {"begin": begin, "end": end, "print": list(range(1, count + 1)), **known}.items():
        table[name] = column
    rows = np.arange(count)
    clock = Clock(TICKS, 0, length, None)
    halves = np.array_split(rows, 2)
    return tuple(
        Extents(clock, half, half.astype(np.uint64), half, np.full(len(half), 100), half == 0, table[half])
        for half in halves
    )


def test_a_location_outside_of_the_trace_is_told_from_ten_milliseconds_on() -> None:
    assert not contradictions(extents([0, 0, -10, 5], [99_000, 100_010, 100_000, 98_000]), set())
    found = contradictions(extents([0, 0, -11, 5], [99_000, 100_011, 100_000, 98_000]), set())
    assert set(found) == {1, 2}
    assert found[1] == (1, 100, "its events end 11 ms after the trace: its clock is off, or it is of another run")
    assert "begin 11 ms before the trace" in found[2][2]
    assert set(contradictions(extents([0, 0, -11, 5], [99_000, 100_011, 100_000, 98_000]), {1})) == {2}


def test_where_most_locations_are_outside_the_definitions_are_imprecise_up_to_a_tenth() -> None:
    ends = [109_000, 109_500, 109_900, 100_000]
    assert not contradictions(extents([0] * 4, ends), set())
    assert set(contradictions(extents([0] * 4, [*ends[:2], 111_000, 100_000]), set())) == {2}
    # A trace whose definitions do not know its length has no edges.
    assert not contradictions(extents([0] * 4, ends, length=0), set())


def test_a_process_that_begins_and_ends_late_has_another_clock() -> None:
    begin, end = [0, 10, 20, 5, 3010, 12], [90_000, 90_010, 90_020, 90_005, 93_000, 90_000]
    found = contradictions(extents(begin, end), set())
    assert set(found) == {4}
    assert "its process begins and ends 2.99 s later than the others" in found[4][2]
    # One that is started later, or ends earlier, has not.
    assert not contradictions(extents(begin, [*end[:4], 90_005, 90_000]), set())
    assert not contradictions(extents([0, 10, 20, 5, 0, 12], end), set())
    # Among three nothing stands out.
    assert not contradictions(extents(begin[3:], end[3:]), set())


def test_definitions_are_foreign_by_their_locations_and_by_when_clocks_were_measured() -> None:
    begin, end = [0, 10, 20, 5], [99_000] * 4
    assert not contradictions(extents(begin, end, owner=[0, 1, 1, 1]), set())
    assert not contradictions(extents(begin, end, owner=[0, 0, 0, 0]), set())
    assert set(contradictions(extents(begin, end, owner=[-1, 1, 0, 1]), set())) == {0, 2}
    within = {"synchronised": [5, 5, 99_001, -50], "resynchronised": [90_000, 4, 99_900, -1]}
    assert set(contradictions(extents(begin, end, **within), set())) == {2, 3}


def test_copies_are_told_unless_most_are_the_same() -> None:
    begin, end = [0, 10, 20, 5], [99_000] * 4
    found = contradictions(extents(begin, end, print=[7, 8, 7, 9]), set())
    assert {row: reason for row, (_, _, reason) in found.items()} == {
        2: "its event file begins as that of location 0 does, to the tick: one is a copy"
    }
    assert not contradictions(extents(begin, end, print=[7, 8, 7, 9]), {0})
    assert not contradictions(extents(begin, end, print=[7, 7, 7, 7]), set())
    assert not contradictions(extents(begin, end, print=[0, 0, 8, 9]), set())
