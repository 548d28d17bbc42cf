"""The comparison in Python: what is known is not detected again, and it has its place in notebooks and pandas."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from iostrata import compare_layers, open_trace
from iostrata.analysis.comparison import layers as module
from iostrata.analysis.comparison.layer_periods import layer_periods

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def trace():
    return open_trace(FIXTURES / "ncckpt4")


def test_verdicts_that_are_known_are_taken_and_the_same(trace, monkeypatch):
    alone = compare_layers(trace)
    known = list(layer_periods(trace.layers.values()))
    asked = []

    def detect(signal, *arguments):
        asked.append(signal)
        return original(signal, *arguments)

    original = module.detect_period
    monkeypatch.setattr(module, "detect_period", detect)
    helped = compare_layers(trace, known=known)
    assert helped.to_dict() == alone.to_dict()
    # Left over is what descends from another layer without being all of its own, which no layer's signal is.
    whole = {(signal.volume, len(signal.times)) for signal in (one.signal for one in known)}
    assert asked
    assert all((signal.volume, len(signal.times)) not in whole for signal in asked)


def test_known_verdicts_on_other_traffic_are_not_mistaken_for_those_on_all(trace):
    own = list(layer_periods(trace.layers.values(), traffic="own"))
    assert compare_layers(trace, known=own).to_dict() == compare_layers(trace).to_dict()


def test_a_comparison_shows_itself_in_a_notebook_and_as_a_table(trace):
    compared = compare_layers(trace)
    text = "".join(ElementTree.fromstring(f"<div>{compared._repr_html_()}</div>").itertext())
    assert "fill-values" in text
    assert "netCDF → POSIX" in text
    table = compared.to_dataframe()
    assert len(table) == len(compared.flows)
    assert table["lower_bytes"].tolist() == [flow.lower_bytes for flow in compared.flows]
    assert table["verdict"].tolist() == [found.verdict for found in compared.periods.values()]
