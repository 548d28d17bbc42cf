"""What a step signal is besides its numbers: refusals, clips, representation, plot."""

import math

import numpy as np
import pytest
from iostrata import SelectionError
from iostrata.signals.construction import StepSignal, event_signal, step_signal

WINDOW = (0.0, 10.0)


def test_addition_keeps_unit_and_name() -> None:
    left = step_signal([0.0], [1.0], [1.0], window=WINDOW, unit="s-1", name="x")
    total = left + left
    assert (total.unit, total.name, total.values.tolist()) == ("s-1", "x", [2.0, 0.0])
    assert StepSignal.sum([left], name="y").name == "y"


@pytest.mark.parametrize(
    ("start", "end", "volume", "window", "message"),
    [
        ([0.0], [1.0, 2.0], [1.0], WINDOW, "1 starts, 2 ends and 1 volumes"),
        ([0.0], [1.0], [], WINDOW, "0 volumes"),
        ([2.0], [1.0], [1.0], WINDOW, "interval 0 ends at 1, before its start at 2"),
        ([0.0, 0.0], [1.0, 1.0], [1.0, -3.0], WINDOW, "interval 1 has the negative volume -3"),
        ([0.0, math.nan], [1.0, 1.0], [1.0, 1.0], WINDOW, "starts of a signal are not finite at row 1: nan"),
        ([0.0], [math.inf], [1.0], WINDOW, "ends of a signal are not finite"),
        (["a"], [1.0], [1.0], WINDOW, "not numbers"),
        ([[0.0]], [[1.0]], [[1.0]], WINDOW, "2 dimensions"),
        (0.0, 1.0, 1.0, WINDOW, "0 dimensions"),
        ([0.0, 0.0], [1.0, 1.0], [1.5e308, 1.5e308], WINDOW, "too large"),
        ([-1.5e308], [1.5e308], [1.0], WINDOW, "too large"),
        ([0.0], [1.0], [1.0], (5.0, 5.0), "window 5:5 is empty"),
        ([0.0], [1.0], [1.0], (0.0, math.inf), "not finite"),
        ([0.0], [1.0], [1.0], (0.0, math.nan), "not finite"),
        ([0.0], [1.0], [1.0], (0.0, 1.0, 2.0), "not a start and an end"),
        ([0.0], [1.0], [1.0], "ab", "not a start and an end"),
        ([1.0], [1.0], [1.0], None, "empty"),
        ([], [], [], None, "needs a window"),
    ],
)
def test_refuses_what_makes_no_signal(start: object, end: object, volume: object, window: object, message: str) -> None:
    with pytest.raises(SelectionError, match=message) as caught:
        step_signal(start, end, volume, window=window)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_refuses_a_clip_without_overlap_and_sums_that_do_not_fit() -> None:
    signal = step_signal([0.0], [1.0], [1.0], window=WINDOW)
    with pytest.raises(SelectionError, match="outside the signal"):
        signal.clip(10.0, 11.0)
    with pytest.raises(SelectionError, match="must lie below"):
        signal.clip(3.0, 3.0)
    with pytest.raises(SelectionError, match="clip them to one window"):
        signal + signal.clip(0.0, 5.0)
    with pytest.raises(SelectionError, match="cannot add"):
        signal + event_signal([1.0], window=WINDOW)
    with pytest.raises(SelectionError, match="at least one"):
        StepSignal.sum([])
    with pytest.raises(TypeError):
        signal + 1  # type: ignore[operator]


def test_clip_beyond_the_window_is_the_part_that_exists() -> None:
    signal = step_signal([0.0], [10.0], [10.0], window=WINDOW)
    assert signal.clip(8.0, 99.0).window == (8.0, 10.0)
    assert signal.clip(-1.0, 99.0) is signal


def test_volume_until_keeps_shape_and_nan() -> None:
    signal = step_signal([0.0], [10.0], [10.0], window=WINDOW)
    assert signal.volume_until([[1.0, 2.0], [3.0, 4.0]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert signal.volume_until(2.5) == 2.5
    assert signal.volume_until([-math.inf, math.inf]).tolist() == [0.0, 10.0]
    assert np.isnan(signal.volume_until([math.nan])).all()


def test_representation_and_dictionary() -> None:
    signal = step_signal([0.0, 3.0], [1.0, 3.0], [5.0, 2.0], window=WINDOW, name="POSIX write")
    assert repr(signal) == (
        "StepSignal('POSIX write', 3 steps and 1 impulses from 0 to 10 s, volume=7, unit='byte s-1')"
    )
    assert signal.to_dict() == {
        "name": "POSIX write",
        "unit": "byte s-1",
        "window_s": [0.0, 10.0],
        "volume": 7.0,
        "times_s": [0.0, 1.0, 3.0, 10.0],
        "values": [5.0, 0.0, 0.0],
        "impulse_times_s": [3.0],
        "impulse_volumes": [2.0],
    }


def test_plot_draws_steps_and_impulses() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = step_signal([0.0, 3.0], [1.0, 3.0], [5.0, 2.0], window=WINDOW, name="POSIX").plot(color="black")
    (stairs,) = axes.patches
    assert stairs.get_data().values.tolist() == [5.0, 0.0, 0.0]
    assert stairs.get_label() == "POSIX"
    (ticks,) = axes.lines
    assert ticks.get_xdata().tolist() == [3.0]
    assert axes.get_ylabel() == "byte s-1"
    assert step_signal([0.0], [1.0], [5.0]).plot(axes) is axes
    plt.close(axes.figure)
