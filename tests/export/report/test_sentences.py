"""The sentences at the top, on runs of which the truth is known."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from iostrata import Trace, compare_layers, detect_period, open_trace, step_signal
from iostrata.analysis.comparison.layer_periods import LayerPeriod, chosen_layers, layer_periods
from iostrata.export.json.documents import layers_document
from iostrata.export.report.sentences import first_sentences, period_text
from iostrata.export.report.write import report_contents


@pytest.fixture
def sentences(trace_of: Callable[[str], Trace]) -> Callable[[str], list[str]]:
    def told(name: str, without_period: tuple[str, ...] = ()) -> list[str]:
        trace = trace_of(name)
        layers = chosen_layers(trace)
        periods = [
            replace(one, result=replace(one.result, periods=())) if one.layer in without_period else one
            for one in layer_periods(layers)
        ]
        return first_sentences(layers_document(trace, layers), periods, compare_layers(trace).to_dict())

    return told


def test_fill_values_double_what_posix_wrote(sentences):
    volume, period, look = sentences("ncckpt4")
    assert volume == (
        "The program wrote 83.9 MB through netCDF, on all 4 ranks; of this POSIX made 168 MB, 2.00 times as much."
    )
    assert period.startswith("Writes of netCDF, HDF5, MPI-IO and POSIX come every 40")
    assert "writes of ISOC every 100 ms" in period
    # What costs most time is told: the calls that fill, not the collective ones, which cost less.
    assert "netCDF filled" in look


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
        "The program wrote 64.4 GB through MPI-IO, on all 384 ranks, and read 64.4 GB through MPI-IO."
    )
    told = sentences("broken_race_corruption")[0]
    assert told.startswith("The program wrote 55.4 MB through POSIX, on 3 of ")
    assert told.endswith("ranks, and 22.5 MB through MPI-IO, and read 6.5 MB through MPI-IO and 2.34 MB through POSIX.")
    # 2.6 MB of 170 MB are no substantial share.
    assert sentences("mixed4")[0].startswith("The program wrote 168 MB through MPI-IO, on all 4 ranks; of this POSIX")


def test_a_layer_that_only_serves_others_is_not_the_program(trace_of):
    trace = trace_of("ncckpt4")
    lowest = chosen_layers(trace, ["POSIX"])
    told = first_sentences(layers_document(trace, lowest), list(layer_periods(lowest)), None)[0]
    assert told == "POSIX wrote 168 MB for the layers above it, on 1 of 4 ranks."


STARTS = np.concatenate((0.1 + 0.2 * np.arange(20), 4.1 + 0.45 * np.arange(12)))


def bursts(method="auto", starts=STARTS, window=(0.0, 9.6)):
    signal = step_signal(starts, starts + 0.02, np.full(len(starts), 2.0e6), window=window)
    return LayerPeriod("POSIX", "write", "all", signal, detect_period(signal, method))


def test_ranks_that_take_part_without_bytes_write_nothing(tmp_path):
    path = tmp_path / "t.csv"
    calls = "".join(f"MPI-IO,{rank},write,1,2,{0 if rank else 10},/f\n" for rank in range(4))
    path.write_text(f"layer,rank,mode,start,end,bytes,file\n{calls}POSIX,0,write,1,2,10,/f\n")
    trace = open_trace(path)
    layers = chosen_layers(trace)
    documents = layers_document(trace, layers), compare_layers(trace).to_dict()
    volume = first_sentences(documents[0], layer_periods(layers), documents[1])[0]
    assert volume == "The program wrote 10 B through MPI-IO, on 1 of 4 ranks; of this POSIX made 10 B, as much."


def test_both_regimes_and_their_stretches_are_told():
    found = bursts()
    assert [round(regime.period, 2) for regime in found.result.regimes] == [0.2, 0.45]
    text = period_text(found.result, found.signal.window)
    first, second = found.result.regimes
    assert text.startswith("every 200 ms from 100 ms to 4.")
    assert f", then every 450 ms to {second.end:.3g} s" in text
    assert text.endswith(
        (f"{first.confidence:.2f} and {second.confidence:.2f}", f"confidence {first.confidence:.2f} each")
    )


def test_stretches_of_one_pace_are_told_together():
    found = bursts()
    first, second = found.result.regimes
    again = [replace(second, start=10.0 + at, end=15.0 + at, period=second.period * (1 + 0.001 * at)) for at in (0, 20)]
    result = replace(found.result, regimes=(first, second, *again))
    text = period_text(result, found.signal.window)
    assert text.startswith("every 200 ms from ")
    assert ", then every 450 to 459 ms to 35 s in 3 stretches, confidence " in text
    apart = replace(found.result, regimes=(first, again[0], replace(again[1], period=2 * again[1].period)))
    assert ", then every 450 ms from 10 s to 15 s, then every 918 ms from 30 s to 35 s" in period_text(
        apart, found.signal.window
    )


def test_the_stretch_where_the_hybrid_holds_is_told():
    found = bursts("hybrid")
    (regime,) = found.result.regimes
    text = period_text(found.result, found.signal.window)
    assert f" from {1000 * regime.start:.3g} ms to {regime.end:.3g} s, confidence" in text


def test_a_period_of_the_middle_of_the_run_is_told_with_its_stretch():
    found = bursts(starts=10.0 + 0.5 * np.arange(20), window=(0.0, 30.0))
    assert " from 10 s to " in period_text(found.result, found.signal.window)
    found = bursts(starts=0.1 + 0.5 * np.arange(20), window=(0.0, 10.0))
    assert " from " not in period_text(found.result, found.signal.window)


def test_the_headline_and_the_panels_say_so(trace_of):
    trace = trace_of("ncckpt4")
    layers = chosen_layers(trace)
    found = bursts()
    sentence = first_sentences(layers_document(trace, layers), [found], None)[1]
    text = period_text(found.result, found.signal.window)
    assert sentence == f"Writes of POSIX come {text}."
    assert report_contents(trace, layers, [found]).more["curves"][0]["verdict"] == text


@pytest.mark.parametrize("alike", [True, False])
def test_layers_with_other_regimes_are_told_apart(trace_of, alike):
    trace = trace_of("ncckpt4")
    one = bursts()
    regimes = one.result.regimes if alike else one.result.regimes[1:]
    periods = (replace(one.result.periods[0], period=regimes[-1].period),)
    other = replace(one, layer="MPI-IO", result=replace(one.result, regimes=regimes, periods=periods))
    sentence = first_sentences(layers_document(trace, chosen_layers(trace)), [one, other], None)[1]
    assert sentence.startswith("Writes of POSIX and MPI-IO come" if alike else "Writes of POSIX come")
    assert ("writes of MPI-IO every 450 ms from 4." in sentence) is not alike


def test_a_run_without_bytes_says_what_it_did_instead():
    kinds = (("opens", 1160, 0.5), ("deletions", 576, 0.03), ("other_calls", 8, 0.001))
    document = {
        "trace": {"io_events": 9466},
        "layers": [],
        "set_aside": {"operations": 2},
        "damage": {"damaged": False},
        "metadata_calls": [
            {"layer": "POSIX", "kind": kind, "calls": calls, "summed_s": summed} for kind, calls, summed in kinds
        ],
    }
    finding = {"text": "many POSIX metadata operations beside 0 transfers"}
    assert first_sentences(document, [], {"findings": [finding]}) == [
        "No bytes were moved on the selected files.",
        "POSIX made 1,160 opens, 576 deletions, which took 530 ms in all, summed over ranks.",
        "Many POSIX metadata operations beside 0 transfers.",
    ]
    document["layers"] = [{"bytes": 0, "operations": 0}, {"bytes": None, "operations": 3}]
    assert first_sentences(document, [], None)[0] == "How many bytes were moved is not recorded."


def test_what_is_over_at_once_has_one_time(trace_of):
    trace = trace_of("ncckpt4")
    layers = chosen_layers(trace)
    (found,) = (one for one in layer_periods(layers) if one.layer == "ISOC")
    short = replace(found.result.regimes[0], start=5.5, end=5.5004, period=180e-6)
    period = first_sentences(
        layers_document(trace, layers), [replace(found, result=replace(found.result, regimes=(short,)))], None
    )[1]
    assert "at 5.5 s" in period
    assert "from 5.5 s to 5.5 s" not in period
