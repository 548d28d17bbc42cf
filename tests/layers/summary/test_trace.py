"""Traces read in bounded memory, against the same traces read in full."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iostrata import IostrataError, SelectionError, Trace, open_trace, write_hdf5
from iostrata.layers.trace import check_frequency
from iostrata.otf2io import source as source_module

FIXTURES = Path(__file__).parents[3] / "fixtures"
ALL = sorted(anchor.parent.name for anchor in FIXTURES.glob("*/traces.otf2"))
MEMORY = 500 << 20
SMALL = 330 << 20
FINEST = ("ncckpt4", "nonblocking4", "ior384")
"""Those read in as many bins as there may be, 2^20; a quarter of the work and as telling for the others is `SMALL`."""
DIRECTIONS, TRAFFIC = ("read", "write", "total"), ("all", "own", "inherited")
HANDLE_NUMBERS = (
    "operations", "bytes_read", "bytes_written", "subtree_operations", "subtree_bytes_read", "subtree_bytes_written",
    "metadata_events", "ranks", "parent", "depth", "layer_row",
)  # fmt: skip


def check_same(full: Trace, binned: Trace, metadata: bool = True) -> None:
    assert (binned.window, binned.duration) == (full.window, full.duration)
    assert binned.scope.window == full.scope.window
    assert binned.damage == full.damage
    assert (binned.tally.events, binned.tally.io_events) == (full.tally.events, full.tally.io_events)
    assert binned.tally.unmatched == full.tally.unmatched
    assert (binned.ranks, binned.definitions.node_count, binned.definitions.locations.id.size) == (
        full.ranks,
        full.definitions.node_count,
        full.definitions.locations.id.size,
    )
    check_set_aside(full, binned)
    assert list(binned.layers) == list(full.layers)
    for name, layer in full.layers.items():
        mine = binned.layers[name]
        assert mine.directions == layer.directions
        assert (mine.flushes, mine.flush_busy_s) == (layer.flushes, layer.flush_busy_s)
        for direction in DIRECTIONS:
            for traffic in TRAFFIC:
                check_numbers(layer.statistics(direction, traffic).to_dict(), mine.statistics(direction, traffic))
                check_signal(layer.bandwidth(direction, traffic), mine.bandwidth(direction, traffic), binned, full)
    for column in HANDLE_NUMBERS:
        if column == "metadata_events" and not metadata:
            continue
        theirs, ours = getattr(full.handles, column), getattr(binned.handles, column)
        assert ours.dtype == theirs.dtype, column
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=column)
    assert binned.handles.set_aside == full.handles.set_aside


def check_set_aside(full: Trace, binned: Trace) -> None:
    theirs, ours = full.set_aside.to_dict(), binned.set_aside.to_dict()
    assert ours.pop("bytes") == pytest.approx(theirs.pop("bytes"), rel=1e-12)
    assert ours == theirs


def check_numbers(expected: dict[str, Any], statistics: Any) -> None:
    found = statistics.to_dict()
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert type(found[key]) is type(value), key
        assert found[key] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value), key


def check_signal(exact: Any, binned: Any, trace: Trace, full: Trace) -> None:
    assert (binned.window, binned.name, binned.unit) == (exact.window, exact.name, exact.unit)
    quanta = len(full.operations) * 2**-15
    assert binned.volume == pytest.approx(exact.volume, rel=1e-12, abs=quanta)
    assert (binned.values >= 0).all()
    # At any time no more is missing than what moves within a bin.
    times = np.linspace(*exact.window, 400)
    width = trace.resolution
    late, early = exact.volume_until(times - width), exact.volume_until(times + width)
    # A long operation may be a quarter of a quantum a bin behind or ahead, so 4 bytes in 2^20 bins.
    slack = 1e-9 * exact.volume + quanta + 4 * min(len(full.operations), 64)
    assert (binned.volume_until(times) >= late - slack).all()
    assert (binned.volume_until(times) <= early + slack).all()


@pytest.mark.parametrize("name", ALL)
def test_every_fixture(name: str) -> None:
    full = open_trace(FIXTURES / name)
    check_same(full, open_trace(FIXTURES / name, memory=MEMORY if name in FINEST else SMALL))
    end = full.duration
    windows = [(None, 0.6 * end), (0.3333 * end, 0.77 * end), (0.5 * end, None), (-5.0, end + 5)]
    for window in windows[ALL.index(name) % 2 :: 2]:
        check_same(full.select(window=window), open_trace(FIXTURES / name, memory=SMALL, window=window))
    everything = open_trace(FIXTURES / name, memory=SMALL, files="all", workers=3)
    check_same(full.select(files="all"), everything)


def test_a_pattern_and_other_rules() -> None:
    check_same(
        open_trace(FIXTURES / "ncckpt4", files="*.nc"), open_trace(FIXTURES / "ncckpt4", memory=SMALL, files="*.nc")
    )
    rules = [("*.nc", "not these")]
    check_same(
        open_trace(FIXTURES / "ncckpt4", rules=rules), open_trace(FIXTURES / "ncckpt4", memory=SMALL, rules=rules)
    )


@pytest.mark.parametrize("name", ["nonblocking4", "ior384", "ckpt4_compiler_flush"])
def test_the_same_bits_for_any_number_of_workers(name: str) -> None:
    end = open_trace(FIXTURES / name).duration
    # More workers leave less memory to the bins; here there is enough for as many bins as there may be.
    for window, counts in ((None, (1, 3, 3)), ((0.31 * end, 0.71 * end), (1, 3))):
        first, *others = (
            everything(open_trace(FIXTURES / name, memory=MEMORY, fs=512 / end, workers=workers, window=window))
            for workers in counts
        )
        assert all(other == first for other in others)


def everything(trace: Trace) -> list[Any]:
    found: list[Any] = [trace.set_aside.to_dict(), trace.scope.window]
    for layer in trace.layers.values():
        for direction in DIRECTIONS:
            for traffic in TRAFFIC:
                signal = layer.bandwidth(direction, traffic)
                found.append((signal.times.tobytes(), signal.values.tobytes(), signal.cumulative.tobytes()))
                found.append(layer.statistics(direction, traffic).to_dict())
    return [*found, *(getattr(trace.handles, column).tobytes() for column in HANDLE_NUMBERS)]


@pytest.mark.parametrize("fs", [1.0, 3.0, 7.7, 1000.0])
def test_samples_at_a_given_frequency(fs: float) -> None:
    full = open_trace(FIXTURES / "ckpt4")
    for window in (None, (1.0, 6.5)):
        binned = open_trace(FIXTURES / "ckpt4", memory=SMALL, fs=fs, window=window)
        check_frequency(binned, fs)
        assert 1 / fs / binned.resolution == pytest.approx(round(1 / fs / binned.resolution))
        for name, layer in full.select(window=window or (None, None)).layers.items():
            for direction in DIRECTIONS:
                exact = layer.bandwidth(direction).sample(fs)
                mine = binned.layers[name].bandwidth(direction).sample(fs)
                assert len(mine) == len(exact)
                np.testing.assert_allclose(mine.values, exact.values, rtol=1e-6, atol=20 * fs)


def test_frequencies_that_do_not_fit() -> None:
    coarse = open_trace(FIXTURES / "ckpt4", memory=SMALL, fs=2.0)
    with pytest.raises(SelectionError, match="finer than those that were kept"):
        check_frequency(coarse, 2 / coarse.resolution)
    with pytest.raises(SelectionError, match="more than the 1048576 that can be kept"):
        open_trace(FIXTURES / "ckpt4", memory=MEMORY, fs=200_000.0)
    with pytest.raises(SelectionError, match=r"give it (\d+)M") as caught:
        open_trace(FIXTURES / "ckpt4", memory=SMALL, fs=100_000.0)
    enough = int(str(caught.value).split("give it ")[1].split("M")[0])
    check_frequency(open_trace(FIXTURES / "ckpt4", memory=enough * 10**6, fs=100_000.0), 100_000.0)
    for fs in (0.0, -1.0, float("nan")):
        with pytest.raises(SelectionError, match="sampling frequency"):
            open_trace(FIXTURES / "ckpt4", memory=SMALL, fs=fs)


@pytest.fixture
def with_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Return a function that makes archives be opened with a clock of another length that starts later."""
    real = source_module.open_archive

    def change(length: int, later: int) -> None:
        def opened(*arguments: Any) -> Any:
            found = real(*arguments)
            clock = replace(found.definitions.clock, length=length, start=found.definitions.clock.start + later)
            return replace(found, definitions=replace(found.definitions, clock=clock))

        monkeypatch.setattr(source_module, "open_archive", opened)

    return change


@pytest.mark.parametrize("length", [2**62, 2**64 - 1, 0, 10**6, 3 * 10**9])
@pytest.mark.parametrize("later", [0, 2_000_000_001])
@pytest.mark.parametrize("window", [None, (1.0, None), (None, 4.0), (0.5, 2.5), (-1.0, 100.0)])
def test_clocks_without_length_and_operations_outside_of_it(
    length: int, later: int, window: Any, with_clock: Callable[[int, int], None]
) -> None:
    with_clock(length, later)
    full = open_trace(FIXTURES / "ckpt4", window=window)
    binned = open_trace(FIXTURES / "ckpt4", memory=SMALL, window=window)
    # Of a whole trace all metadata events count, also those outside of the time of its operations.
    check_same(full, binned, metadata=window == (0.5, 2.5))
    start, end = binned.window
    assert binned.resolution < (end - start) / 1000


def test_an_automatic_frequency_is_no_finer_than_the_bins(
    with_clock: Callable[[int, int], None], tmp_path: Path
) -> None:
    # Operations outside of the clock's time: the bins widen, and do not begin where the window does.
    with_clock(3 * 10**9, 10**9)
    trace = open_trace(FIXTURES / "ckpt4", memory=285 << 20)
    written = write_hdf5(trace, tmp_path / "x.h5", periods=False)
    assert written.fs * trace.resolution <= 1 + 1e-9


@pytest.mark.parametrize("window", [(8000.0, 9000.0), (3.0, 2.0), (float("nan"), 2.0), ("a", "b"), 7, (1.0, 1.0)])
def test_windows_that_make_no_sense(window: Any) -> None:
    with pytest.raises(SelectionError) as expected:
        open_trace(FIXTURES / "ckpt4", window=window)
    with pytest.raises(SelectionError) as found:
        open_trace(FIXTURES / "ckpt4", memory=SMALL, window=window)
    assert str(found.value).split(":")[0] == str(expected.value).split(":")[0]


def test_a_window_of_a_few_ticks() -> None:
    window = (5.0, 5.000000005)
    check_same(
        open_trace(FIXTURES / "ckpt4", window=window), open_trace(FIXTURES / "ckpt4", memory=SMALL, window=window)
    )


def test_what_cannot_be_had() -> None:
    layer = open_trace(FIXTURES / "ckpt4", memory=SMALL).layers["POSIX"]
    for call in (lambda: layer.by("rank"), lambda: layer.signal("operations")):
        with pytest.raises(SelectionError, match="read in bounded memory"):
            call()
    for call in (lambda: layer.bandwidth("up"), lambda: layer.statistics("read", "some"), lambda: layer.signal("x")):
        with pytest.raises(SelectionError, match=r"no (direction|traffic|signal)"):
            call()


def test_what_it_looks_like() -> None:
    trace = open_trace(FIXTURES / "ckpt4", memory=SMALL)
    assert isinstance(trace, Trace)
    assert "in bins of" in repr(trace)
    assert "POSIX" in repr(trace.layers["POSIX"])
    assert "<table" in trace.layers["POSIX"]._repr_html_()


def test_the_library_engine_tells_the_same() -> None:
    direct, library = (open_trace(FIXTURES / "nonblocking4", memory=SMALL, engine=one) for one in ("direct", "library"))
    assert library.stream.engine == "library"
    assert [layer.statistics(way) for layer in direct.layers.values() for way in layer.directions] == [
        layer.statistics(way) for layer in library.layers.values() for way in layer.directions
    ]


@pytest.mark.parametrize("seed", range(10))
def test_damaged_archives_give_the_same_or_are_refused_alike(seed: int, tmp_path: Path) -> None:
    name = ("ncckpt4", "nonblocking4", "threads2")[seed % 3]
    folder = Path(shutil.copytree(FIXTURES / name, tmp_path / "x", copy_function=shutil.copyfile))
    chance = np.random.default_rng(seed)
    paths = [folder / "traces.def"] if seed % 5 == 4 else sorted((folder / "traces").glob("*.evt"))
    for path in paths:
        content = bytearray(path.read_bytes())
        for at in chance.integers(20, len(content), 4).tolist():
            content[at] = int(chance.integers(0, 256))
        path.write_bytes(content[: len(content) - (seed % 2) * int(chance.integers(0, 500))])
    expected = refusal(lambda: open_trace(folder, engine="direct"))
    assert refusal(lambda: open_trace(folder, memory=SMALL)) == expected
    if expected is None:
        check_same(open_trace(folder, engine="direct"), open_trace(folder, memory=SMALL), metadata=False)


def refusal(read: Callable[[], object]) -> str | None:
    try:
        read()
    except IostrataError as error:
        return str(error)
    return None


def test_nothing_left_to_read(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FIXTURES / "serial1", tmp_path / "x", copy_function=shutil.copyfile))
    shutil.rmtree(folder / "traces")
    with pytest.raises(IostrataError, match="none of the"):
        open_trace(folder, memory=SMALL)


def test_numba_is_only_loaded_for_reading() -> None:
    code = (
        "import sys, json, iostrata.layers.trace, iostrata.layers.attribution.stream, iostrata.export.hdf5.writer;"
        "print(json.dumps([name for name in ('numba', 'llvmlite') if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
