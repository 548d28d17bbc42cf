"""Parts of layers in bounded memory, against those of the same trace in full."""

from pathlib import Path

import numpy as np
import pytest
from iostrata import SelectionError, open_trace
from iostrata.analysis.comparison.layer_periods import PartsLeftOut, part_periods
from iostrata.layers.opening import Purpose
from iostrata.layers.summary.parts import PartSignal

FIXTURES = Path(__file__).parents[3] / "fixtures"
MEMORY = 400 << 20


@pytest.mark.parametrize("name", ["ncckpt4", "ior384", "serial1"])
@pytest.mark.parametrize("by", ["file", "stream", "filesystem", "rank", "node", "handle"])
def test_volumes_and_signals_of_parts(name: str, by: str) -> None:
    end = open_trace(FIXTURES / name).duration
    for window in (None, (0.3333 * end, 0.77 * end)):
        full = open_trace(FIXTURES / name, window=window)
        binned = open_trace(FIXTURES / name, memory=MEMORY, window=window, purpose=Purpose(parts=(by, 5)), workers=2)
        parts = binned.sums.parts(by)
        for layer_name, layer in full.layers.items():
            mine, theirs = binned.layers[layer_name], layer.by(by)
            for direction, traffic in (("read", "all"), ("write", "own"), ("total", "inherited")):
                expected = {key: one for key, one in theirs.volumes("bandwidth", direction, traffic).items() if one}
                categories = mine.categories(direction, traffic)
                found = parts.volumes(categories)
                assert found == pytest.approx(expected, rel=1e-12)
                if window is None:
                    assert list(found) == list(expected)
                wanted = [PartSignal(categories, key, "x") for key in list(expected)[:5]]
                for one, signal in zip(wanted, parts.signals(wanted), strict=True):
                    exact = theirs[one.key].bandwidth(direction, traffic)
                    times = np.linspace(*exact.window, 300)
                    assert signal.resolution == binned.resolution
                    slack = 8 * len(theirs[one.key].rows) + 1e-9 * exact.volume
                    assert signal.volume == pytest.approx(exact.volume, rel=1e-9)
                    until = signal.volume_until(times)
                    assert (until >= exact.volume_until(times - signal.resolution) - slack).all()
                    assert (until <= exact.volume_until(times + signal.resolution) + slack).all()


def test_any_number_of_threads_and_a_cut_give_the_same_bits() -> None:
    def told(workers: int) -> list[bytes]:
        trace = open_trace(
            FIXTURES / "ior384", memory=2**30, fs=500.0, purpose=Purpose(parts=("rank", 4)), workers=workers
        )
        found = part_periods(trace.layers.values(), "rank", 4, binned=trace.sums.parts("rank"))
        signals = [one.signal for one in found if not isinstance(one, PartsLeftOut)]
        assert len(signals) > 3
        return [column.tobytes() for one in signals for column in (one.times, one.values, one.cumulative)]

    assert told(1) == told(3)


def test_periods_of_parts_are_those_of_the_whole_trace() -> None:
    full, binned = (
        open_trace(FIXTURES / "ncckpt4"),
        open_trace(FIXTURES / "ncckpt4", memory=MEMORY, purpose=Purpose(parts=("rank", 3))),
    )
    theirs = list(part_periods(full.layers.values(), "rank", 3))
    ours = list(part_periods(binned.layers.values(), "rank", 3, binned=binned.sums.parts("rank")))
    assert len(ours) == len(theirs) > 5
    for mine, other in zip(ours, theirs, strict=True):
        if isinstance(other, PartsLeftOut):
            assert isinstance(mine, PartsLeftOut)
            assert mine.volumes == other.volumes
            continue
        assert not isinstance(mine, PartsLeftOut)
        assert (mine.layer, mine.part, mine.signal.name) == (other.layer, other.part, other.signal.name)
        assert mine.false_alarm_rate == other.false_alarm_rate
        assert (mine.result.sampling.signal, other.result.sampling.signal) == ("binned", "exact")
        if other.result.period is not None:
            assert mine.result.period == pytest.approx(other.result.period, rel=1e-3)


def test_what_bounded_memory_does_not_have_is_refused() -> None:
    trace = open_trace(FIXTURES / "serial1", memory=MEMORY)
    with pytest.raises(SelectionError, match="bounded memory"):
        list(part_periods(trace.layers.values(), "rank", 3, quantity="operations", binned=trace.sums.parts("rank")))
    with pytest.raises(SelectionError, match="cannot split layers by 'day'"):
        trace.sums.parts("day").volumes([0])
    with pytest.raises(SelectionError, match="read in bounded memory"):
        open_trace(FIXTURES / "serial1").sums.parts("rank")


def test_too_many_parts_are_refused_in_one_line() -> None:
    with pytest.raises(SelectionError, match=r"at least \d+M$") as refused:
        open_trace(FIXTURES / "ior384", memory=10**7, workers=1)
    least = int(str(refused.value).rsplit("least ", 1)[1][:-1]) * 10**6
    open_trace(FIXTURES / "ior384", memory=least, purpose=Purpose(parts=("rank", 1)), workers=1)
    with pytest.raises(
        SelectionError, match=r"give at least \d+M, or look at fewer parts with --parts: [\d,]+ signals"
    ):
        open_trace(FIXTURES / "ior384", memory=least, purpose=Purpose(parts=("rank", 10**9)), workers=1)
