"""Periods in words: every stretch of the run that has one is named, in the headline and in the headings of panels."""

from dataclasses import replace

import numpy as np
import pytest
from iostrata import detect_period, step_signal
from iostrata.analysis.comparison.layer_periods import LayerPeriod, chosen_layers
from iostrata.export.json.documents import layers_document
from iostrata.export.report.contents import report_contents
from iostrata.export.report.headline import headline, verdict_text

STARTS = np.concatenate((0.1 + 0.2 * np.arange(20), 4.1 + 0.45 * np.arange(12)))


def bursts(method="auto", starts=STARTS, window=(0.0, 9.6)):
    signal = step_signal(starts, starts + 0.02, np.full(len(starts), 2.0e6), window=window)
    return LayerPeriod("POSIX", "write", "all", signal, detect_period(signal, method))


def test_both_regimes_and_their_stretches_are_told():
    found = bursts()
    assert [round(regime.period, 2) for regime in found.result.regimes] == [0.2, 0.45]
    text = verdict_text(found.result, found.signal.window)
    first, second = found.result.regimes
    assert text.startswith("every 0.200 s from 0.100 s to 4.")
    assert f", then every 0.450 s to {second.end:.2f} s" in text
    assert text.endswith(
        (f"{first.confidence:.2f} and {second.confidence:.2f}", f"confidence {first.confidence:.2f} each")
    )


def test_the_stretch_where_the_hybrid_holds_is_told():
    found = bursts("hybrid")
    (regime,) = found.result.regimes
    text = verdict_text(found.result, found.signal.window)
    assert f" from {1000 * regime.start:.1f} ms to {regime.end:.2f} s, confidence" in text


def test_a_period_of_the_middle_of_the_run_is_told_with_its_stretch():
    found = bursts(starts=10.0 + 0.5 * np.arange(20), window=(0.0, 30.0))
    assert " from 10.0 s to " in verdict_text(found.result, found.signal.window)
    found = bursts(starts=0.1 + 0.5 * np.arange(20), window=(0.0, 10.0))
    assert " from " not in verdict_text(found.result, found.signal.window)


def test_the_headline_and_the_panels_say_so(trace_of):
    trace = trace_of("ncckpt4")
    layers = chosen_layers(trace)
    found = bursts()
    sentence = headline(layers_document(trace, layers), [found], None)[1]
    text = verdict_text(found.result, found.signal.window)
    assert sentence == f"Writes of POSIX come {text}."
    assert report_contents(trace, layers, [found])["curves"][0]["verdict"] == text


@pytest.mark.parametrize("alike", [True, False])
def test_layers_with_other_regimes_are_told_apart(trace_of, alike):
    trace = trace_of("ncckpt4")
    one = bursts()
    regimes = one.result.regimes if alike else one.result.regimes[1:]
    other = replace(one, layer="MPI-IO", result=replace(one.result, regimes=regimes))
    sentence = headline(layers_document(trace, chosen_layers(trace)), [one, other], None)[1]
    assert sentence.startswith("Writes of POSIX and MPI-IO come" if alike else "Writes of POSIX come")
    assert ("writes of MPI-IO every 0.450 s from 4." in sentence) is not alike
