"""Comparisons of layers in whole, as stored."""

import pytest
from iostrata import compare_layers, open_trace
from iostrata.analysis.comparison.coherence import coherence_at
from iostrata.analysis.comparison.headline import headline_of
from iostrata.analysis.comparison.iterations import loops_of
from iostrata.analysis.comparison.layer_periods import chosen_layers, layer_periods
from iostrata.analysis.comparison.layers import pair_entries
from iostrata.analysis.comparison.overview import overview_of
from iostrata.analysis.comparison.side_by_side import side_by_side
from iostrata.analysis.findings import find

RECORDINGS = ("ckpt4", "ckpt4_jitter", "late4", "mixed4", "ncckpt4", "ncckpt4_perstep", "nonblocking4", "small_files2")


@pytest.mark.parametrize("name", RECORDINGS)
def test_comparisons_are_those_stored(fixtures, held, name):
    trace = open_trace(fixtures / name)
    compared, overview = compare_layers(trace), overview_of(trace)
    periods = list(layer_periods(chosen_layers(trace)))
    signals = [one.signal for one in periods if one.signal is not None][:3]
    known = [one.result.period for one in periods if one.result is not None and one.result.period]
    held(
        name,
        {
            "pairs": pair_entries(compared),
            "compared": compared,
            "headline": headline_of(trace, find(trace)),
            "rows": overview.rows,
            "sides": list(side_by_side(trace, ("read", "write", "total"))),
            "by_iterations": getattr(loops_of(trace), "layers", None),
            "coherence": [coherence_at(one, other, known[0]) for one in signals for other in signals if known],
        },
        skipped=("flows", "layers", "loops", "signal", "relations", "definitions"),
    )


@pytest.mark.parametrize("name", ["ncckpt4", "mixed4"])
@pytest.mark.parametrize("options", [["--direction", "write"], ["--method", "ftio"]])
def test_documents_are_those_stored(fixtures, held, printed, name, options):
    held(
        f"{name}_{options[1]}", printed("compare", fixtures / name, "--json", *options), skipped=("iostrata", "version")
    )
