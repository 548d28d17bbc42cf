"""Which periods of two signals are told as one."""

from dataclasses import replace

import numpy as np
import pytest
from iostrata import detect_period, step_signal
from iostrata.analysis.comparison.alike import alike
from iostrata.analysis.results.parts import Period, Regime

WINDOW = (0.0, 100.0)


def held(*stretches, period=2.0, method="auto"):
    """Return a result that is sure of a period, which holds in stretches of the run."""
    begin = np.arange(0.0, 100.0, 2.0)
    result = detect_period(step_signal(begin, begin + 0.5, np.ones(50), window=WINDOW))
    regimes = tuple(Regime(start, end, period) for start, end in stretches)
    periods = (Period(period, (0.98 * period, 1.02 * period), 0.9, 50.0),)
    return replace(result, periods=periods, regimes=regimes, method=method)


WHOLE, FIRST, LATER = (0.0, 99.0), (0.0, 50.0), (50.0, 100.0)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (held(WHOLE), held(WHOLE), True),
        (held(), held(WHOLE), True),
        (held(FIRST), held(FIRST), True),
        (held(FIRST), held((1.0, 51.0)), True),
        (held(FIRST), held((0.0, 53.0)), False),
        (held(FIRST), held(LATER), False),
        (held(FIRST), held(WHOLE), False),
        (held(FIRST), held(), False),
        (held(FIRST, LATER), held(FIRST, LATER), True),
        (held(FIRST, LATER), held(FIRST, (60.0, 100.0)), False),
        (held(FIRST, LATER), held(WHOLE), False),
        (held((5.0, 95.0)), held(WHOLE), True),
        (held((5.0, 94.0)), held(WHOLE), False),
        (held((1.0, 100.0), method="hybrid"), held(WHOLE), False),
        (held((0.0, 100.0), method="hybrid"), held(WHOLE), True),
        (held(WHOLE), held(WHOLE, period=2.1), False),
        (held(WHOLE), held(WHOLE, period=2.03), True),
    ],
)
def test_one_text_speaks_for_two_where_they_hold_at_the_same_times(one, other, same):
    assert alike(one, other, WINDOW) is same
    assert alike(other, one, WINDOW) is same


def test_without_a_period_nothing_is_alike():
    assert not alike(held(WHOLE), replace(held(WHOLE), periods=()), WINDOW)
