"""The sentences at the top, on runs of which the truth is known."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from iostrata.analysis.comparison.layer_periods import chosen_layers, layer_periods
from iostrata.analysis.comparison.layers import compare_layers, comparison_document
from iostrata.export.json.documents import layers_document
from iostrata.export.report.headline import headline
from iostrata.layers.trace import Trace


@pytest.fixture
def sentences(trace_of: Callable[[str], Trace]) -> Callable[[str], list[str]]:
    def told(name: str, without_period: tuple[str, ...] = ()) -> list[str]:
        trace = trace_of(name)
        layers = chosen_layers(trace)
        none = {"periodic": False, "period": None, "period_interval": None, "frequency": None, "periods": ()}
        periods = [
            replace(one, result=replace(one.result, **none)) if one.layer in without_period else one
            for one in layer_periods(layers)
        ]
        return headline(layers_document(trace, layers), periods, comparison_document(compare_layers(trace)))

    return told


def test_fill_values_double_what_posix_wrote(sentences):
    volume, period, look = sentences("ncckpt4")
    assert volume == (
        "The program wrote 83.9 MB through netCDF, on 4 of 4 ranks; of this POSIX made 168 MB, 2.00 times as much."
    )
    assert period.startswith("Writes of netCDF, HDF5, MPI-IO and POSIX come every 0.40")
    assert "writes of ISOC every 0.1" in period
    assert "filled /scratch/demo/run/ncckpt4/out.nc" in look


def test_without_a_period_the_reason_is_told(sentences):
    volume, period, look = sentences("aperiodic4")
    assert volume.endswith("of what it wrote through MPI-IO POSIX made 44.6 MB, as much.")
    assert period.startswith("No layer has a period: ")
    assert look.startswith("Collective MPI-IO writes of 4 ranks leave through POSIX on rank 0 only")
    assert look.endswith(".")
    assert not look.endswith("..")


def test_a_small_log_with_a_period_does_not_speak_for_the_data(sentences):
    period = sentences("ckpt4_jitter", ("MPI-IO", "POSIX"))[1]
    assert period.startswith("Writes of ISOC come every 70")
    assert period.endswith("which moved most, have no period.")


def test_damage_comes_first(sentences):
    assert "damaged in" in sentences("broken_race_corruption")[2]


def test_both_directions_and_every_substantial_layer_are_told(sentences):
    assert sentences("ior384")[0] == (
        "The program wrote 64.4 GB through MPI-IO, on 384 of 384 ranks, and read 64.4 GB through MPI-IO."
    )
    told = sentences("broken_race_corruption")[0]
    assert told.startswith("The program wrote 55.4 MB through POSIX, on 3 of ")
    assert told.endswith("ranks, and 22.5 MB through MPI-IO, and read 6.5 MB through MPI-IO and 2.34 MB through POSIX.")
    # 2.6 MB of 170 MB are no substantial share.
    assert sentences("mixed4")[0].startswith("The program wrote 168 MB through MPI-IO, on 4 of 4 ranks; of this POSIX")


def test_a_layer_that_only_serves_others_is_not_the_program(trace_of):
    trace = trace_of("ncckpt4")
    lowest = chosen_layers(trace, ["POSIX"])
    told = headline(layers_document(trace, lowest), list(layer_periods(lowest)), None)[0]
    assert told == "POSIX wrote 168 MB for the layers above it, on 1 of 4 ranks."
