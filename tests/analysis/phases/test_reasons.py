"""Sentences on decisions, of trains that can be made by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from iostrata.analysis.phases.bursts import Bursts
from iostrata.analysis.phases.reasons import prospect, reason
from iostrata.analysis.phases.stretches import PulseTrain

LN10 = float(np.log(10))


def train(starts, spans=None, gain=50 * LN10):
    start = np.array(starts, float)
    bursts = Bursts(start, start + 1, np.ones(len(start)))
    return PulseTrain(bursts, np.ones(len(starts) - 1) if spans is None else np.array(spans, float), gain)


def told(*trains, kind="periodic", count=None, **more):
    decision = {"line": None, "trains": trains, "kind": kind, "main": trains[0] if trains else None, "cycle": 0}
    count = sum(len(one.bursts) for one in trains) if count is None else count
    phases = {"bursts": range(count), "pause": None, "recurrence": None, "jitter": None}
    apart = {key: more.pop(key) for key in ("pause", "recurrence", "jitter") if key in more}
    return reason(SimpleNamespace(**decision | more), SimpleNamespace(**phases | apart))


EVEN = train([0, 10, 20, 30, 40])


@pytest.mark.parametrize(
    ("more", "end"),
    [(1, "; 1 more would settle it. "), (10, "would settle it. "), (11, " 5 times. ")],
)
def test_what_is_probable_is_told_with_what_would_settle_it(more, end):
    text = prospect(10.0, (9.0, 11.0), 5, more)
    assert text.startswith("About every 10 s (9 s … 11 s), 5 times")
    assert text.endswith(end)
    assert prospect(10.0, (9.0, 11.0), 5, 0) == ""


def test_one_period_is_told_with_its_jitter_and_what_is_missing_or_late():
    sure = "more regular than chance, Bayes factor 10^50."
    assert told(EVEN) == f"5 phases, 10 s apart, jitter 0 %; {sure}"
    assert told(EVEN, count=6) == f"5 of 6 phases, 10 s apart, jitter 0 %; {sure}"
    gap = train([0, 10, 20, 40, 50], [1, 1, 2, 1])
    assert told(gap) == f"5 phases, 10 s apart or a multiple of it, 1 missing between them; {sure}"
    behind = told(EVEN, cycle=3, pause=9.0)
    assert behind == told(EVEN) + " Sizes repeat after 3 phases. From each end to the next start 9 s pass."
    assert told(train([0, 10, 20, 30], gain=5000.0)).endswith("Bayes factor 10^999.")


def test_regimes_and_concurrent_periods_are_listed():
    other = train([100, 103, 106, 109])
    regimes = told(EVEN, other, kind="regimes")
    assert regimes.startswith("9 phases in 2 regimes: 10 s apart from 0 s on, 3 s apart from 100 s on; the main one is")
    assert "The period is that of the clear regime that moved most." in regimes
    again = told(EVEN, train([60, 70, 80, 90]), other, kind="regimes")
    assert "in 3 regimes: 10 s apart from 0 s on in 2 of them, 3 s apart from 100 s on; the main" in again
    both = told(EVEN, other, kind="concurrent")
    assert both.startswith(
        "2 periods at the same time among 9 phases: 10 s (5 phases) and 3 s (4 phases); more regular"
    )


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "The signal never leaves its mean: no phases."),
        (1, "1 phase: a period needs at least four."),
        (3, "3 phases: a period needs at least four."),
        (4, "4 phases, in bins that are too coarse: a period needs at least four bins, and four phases."),
    ],
)
def test_too_few_phases_are_counted(count, text):
    assert told(kind="few", count=count) == text


@pytest.mark.parametrize(
    ("jitter", "begin"), [(0.51, "Recurring but irregular: 7 phases, 2 s apart on"), (0.1, "Recurring, but")]
)
def test_what_recurs_irregularly_says_so(jitter, begin):
    text = told(kind="irregular", count=7, recurrence=2.0, jitter=jitter)
    assert text.startswith(begin)
    assert f"jitter {jitter:.2f}" in text


def test_a_line_in_the_spectrum_is_told_with_its_chance():
    found = told(line=(10.0, 0.001))
    assert found.startswith("A period of 10 s stands out of the noise in the spectrum, p = 0.001;")
