"""Periods of parts and of other signals than bandwidth, in JSON and in the terminal."""

import json
import re
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from iostrata import detect_period, open_trace, step_signal
from iostrata.analysis.comparison.layer_periods import LayerPeriod, PartsLeftOut, layer_periods, part_periods
from iostrata.export.json.documents import json_text, periods_document
from iostrata.export.terminal.console import stdout_console
from iostrata.export.terminal.periods import print_periods
from iostrata.layers.selection.directions import QUANTITIES

FIXTURES = Path(__file__).parents[3] / "fixtures"
UNITS = {"bandwidth": "byte s-1", "operations": "s-1", "metadata": "s-1", "in-flight": "1"}


@pytest.fixture(scope="module")
def trace():
    """Return a trace of four ranks on two nodes that write a checkpoint every 0.4 s."""
    return open_trace(FIXTURES / "ckpt4")


def shown(trace, periods, width=80, **options):
    stream = StringIO()
    print_periods(trace, periods, stdout_console(stream, width), **options)
    return stream.getvalue()


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_each_quantity_has_its_period_unit_and_volume(trace, quantity):
    layer = trace.layers["MPI-IO"]
    (found,) = layer_periods([layer], ["write"], quantity=quantity)
    assert found.direction == (None if quantity == "metadata" else "write")
    assert found.result.period == pytest.approx(0.40, rel=0.02)
    document = json.loads(json_text(periods_document(trace, [found])))
    (entry,) = document["layers"]
    assert (entry["signal"], entry["unit"], entry["direction"]) == (quantity, UNITS[quantity], found.direction)
    name, other = ("bytes", "volume") if quantity == "bandwidth" else ("volume", "bytes")
    for one in (entry, *entry["phases"], *entry["periods"]):
        assert name in one
        assert other not in one
    assert sum(phase[name] for phase in entry["phases"]) <= entry[name] * (1 + 1e-9)
    expected = {
        "bandwidth": layer.statistics("write").bytes,
        "operations": layer.statistics("write").operations,
        "metadata": len(layer.metadata_events.time),
        "in-flight": layer.statistics("write").summed_s,
    }
    assert entry[name] == pytest.approx(expected[quantity])
    assert "part" not in entry
    assert "not_analysed" not in document


@pytest.mark.parametrize("by", ["file", "stream", "filesystem", "rank", "node"])
def test_parts_come_largest_first_and_make_up_the_layer(trace, by):
    layer = trace.layers["MPI-IO"]
    parts = list(part_periods([layer], by, 100))
    writes = [part for part in parts if part.direction == "write"]
    volumes = [part.signal.volume for part in writes]
    assert volumes == sorted(volumes, reverse=True)
    assert sum(volumes) == pytest.approx(layer.statistics("write").bytes)
    assert len({part.part for part in writes}) == len(writes) == len(layer.by(by).volumes("bandwidth", "write"))
    for part in writes:
        signal = layer.by(by)[part.part].bandwidth("write")
        assert part.false_alarm_rate == 0.01 / len(parts)
        assert part.result == detect_period(signal, false_alarm_rate=0.01 / len(parts))
    entries = periods_document(trace, parts)["layers"]
    assert {entry["false_alarm_rate"] for entry in entries} == {0.01 / len(parts)}
    assert [(entry["by"], entry["part"]) for entry in entries] == [(by, part.part) for part in parts]


def random_parts(count, seed):
    """Return layers of which every part is 12 bursts at random times, half of them in another layer."""
    rng = np.random.default_rng(seed)
    signals = {}
    for key in range(count):
        start = np.sort(rng.uniform(0, 400, 12))
        signals[key] = step_signal(start, start + 0.5, np.ones(12), window=(0.0, 401.0))

    def layer(keys):
        parts = Parts({key: SimpleNamespace(signal=lambda *_, key=key: signals[key]) for key in keys})
        return SimpleNamespace(name="POSIX", by=lambda _: parts)

    return [layer(range(count // 2)), layer(range(count // 2, count))]


class Parts(dict):
    """Parts by key, with their volumes."""

    def volumes(self, *_):
        return dict.fromkeys(self, 12.0)


def test_many_parts_without_a_period_are_not_called_periodic_by_chance():
    false, alone = 0, 0
    for seed in range(2):
        found = list(part_periods(random_parts(100, seed), "rank", 100, ["write"]))
        assert {one.false_alarm_rate for one in found} == {0.01 / 100}
        false += sum(one.result.periodic for one in found)
        alone += sum(detect_period(one.signal).periodic for one in found)
    assert false == 0
    assert alone <= 0.02 * 200


def test_a_method_without_a_false_alarm_rate_has_none_for_parts(trace):
    for part in part_periods([trace.layers["MPI-IO"]], "rank", 2, ["write"], method="ftio"):
        assert getattr(part, "false_alarm_rate", None) is None


def test_parts_that_are_left_out_are_named(trace):
    layer = trace.layers["MPI-IO"]
    everything = list(part_periods([layer], "rank", 100, ["write"], quantity="operations"))
    first, rest = part_periods([layer], "rank", 1, ["write"], quantity="operations")
    assert first.part == everything[0].part
    assert isinstance(rest, PartsLeftOut)
    document = json.loads(json_text(periods_document(trace, [first, rest])))
    assert [entry["part"] for entry in document["layers"]] == [first.part]
    assert document["not_analysed"] == [
        {
            "layer": "MPI-IO",
            "direction": "write",
            "traffic": "all",
            "signal": "operations",
            "unit": "s-1",
            "volume": part.signal.volume,
            "by": "rank",
            "part": part.part,
        }
        for part in everything[1:]
    ]
    text = shown(trace, [first, rest])
    assert "MPI-IO write operations, rank 0  20 operations\n" in text
    assert "MPI-IO write operations: 3 further ranks with 60 operations not analysed; raise\n--parts" in text
    assert "rank 1" not in text
    assert "False alarms: 1 % over 1 part, 1 % for each." in text
    assert "False alarms: 1 % over 4 parts, 0.25 % for each." in shown(trace, everything)


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", ["ckpt4", "ncckpt4"])
def test_the_view_of_parts_keeps_within_the_screen(name, width):
    trace = open_trace(FIXTURES / name)
    for quantity in QUANTITIES:
        periods = list(part_periods(trace.layers.values(), "file", 8, quantity=quantity))
        assert periods
        lines = shown(trace, periods, width).splitlines()
        assert max(map(len, lines)) <= width


def test_units_stand_at_the_curves_and_volumes(trace):
    layers = [trace.layers["MPI-IO"]]
    text = shown(trace, layer_periods(layers, ["write"], quantity="operations"))
    assert "MPI-IO write operations  80 operations; drawn" in text
    assert "/s┤" in text
    assert "B/s" not in text
    assert "20 phases with " in text
    assert " % of the operations" in text
    assert re.search(r"\d operations a period", text.replace("\n  ", " "))
    text = shown(trace, layer_periods(layers, ["write"], quantity="in-flight"))
    assert "MPI-IO write operations in flight  " in text
    assert re.search(r"\d m?s in operations; drawn", text)
    assert "/s" not in text.split("Set aside")[0].split("drawn")[1]
    text = shown(trace, layer_periods(layers, quantity="metadata"))
    assert "MPI-IO metadata events  178 events; drawn" in text


def test_a_file_name_cannot_act_on_the_terminal(trace):
    signal = trace.layers["MPI-IO"].bandwidth("write")
    period = LayerPeriod("POSIX", "write", "all", signal, detect_period(signal), "bandwidth", "file", "a\x1b[31m\n")
    assert "POSIX write, a\\x1b[31m\\n  168 MB\n" in shown(trace, [period])


def test_nothing_found_is_said_in_the_words_of_the_signal(trace):
    assert "No metadata events happened by these layers on" in shown(trace, [], 200, quantity="metadata")
    text = shown(trace, [], 200, quantity="operations", traffic="own")
    assert "No operations ended as own traffic by these layers and directions" in text
