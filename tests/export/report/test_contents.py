"""What the page holds: the documents of ``--json``, and drawings that keep volumes, extremes and counts."""

import json
import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iostrata import Trace, compare_layers, detect_period, find_loops, step_signal, write_report
from iostrata.analysis.comparison.iterations import loops_of
from iostrata.analysis.comparison.layer_periods import chosen_layers, layer_periods
from iostrata.analysis.findings import rules
from iostrata.export.encoding import Names, shortened, without_long_text
from iostrata.export.json.documents import handles_document, json_pieces, layers_document, periods_document
from iostrata.export.page.html import BASE, page
from iostrata.export.report.panels.limits import Limits
from iostrata.export.report.panels.loops import loop_charts, loop_strips
from iostrata.export.report.panels.signals import request_sizes
from iostrata.export.report.panels.timeline import collective_calls
from iostrata.export.report.panels.volumes import volume_grid
from iostrata.export.report.write import MOST_BYTES, PICTURES, report_contents
from iostrata.signals.step import envelope

TYPES = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "i4": "<i4", "f4": "<f4", "f8": "<f8"}


def unpacked(column: dict[str, str]) -> np.ndarray:
    return np.frombuffer(b64decode(column["data"]), TYPES[column["type"]])


def contents_of(path: Path) -> Any:
    found = re.search(r'<script type="application/json" id="contents">(.*?)</script>', path.read_text())
    assert found
    return json.loads(found[1])


def through_json(document: dict[str, Any]) -> Any:
    return json.loads("".join(json_pieces(document)))


@pytest.mark.parametrize("name", ["ncckpt4", "mixed4", "broken_race_corruption", "threads2"])
def test_the_numbers_are_those_of_the_json_documents(reports, trace_of, name):
    contents, trace = contents_of(reports(name)), trace_of(name)
    layers = chosen_layers(trace)
    told = through_json(layers_document(trace, layers))
    for name in ("cost", "overlap", "exclusive_s"):
        told.pop(name, None)
    if told.get("chain"):
        # The page tells its sums, and for whom the others wait longest.
        told["chain"] |= {"steps": [], "held_up": told["chain"]["held_up"][:1]}
    assert contents["layers"] == told
    document = through_json(periods_document(trace, list(layer_periods(layers, loops=loops_of(trace)))))
    assert contents["periods"]["layers"] == document["layers"]
    comparison = through_json(compare_layers(trace).to_dict())
    for name in ("findings", "hidden"):
        assert contents["compare"][name] == comparison[name]
    assert len(contents["compare"]["pairs"]) == len(comparison["pairs"])
    for shown, pair in zip(contents["compare"]["pairs"], comparison["pairs"], strict=True):
        assert {key: pair[key] for key in shown} == shown
        assert {"lower_bytes", "amplification", "fan_out", "verdict", "lag_s", "movers_beneath_call"} <= set(shown)
    handles = {handle["id"]: handle for handle in through_json(handles_document(trace))["handles"]}
    shown = contents["handles"]["handles"]
    assert shown["id"]
    for row, identity in enumerate(shown["id"]):
        for key in ("operations", "bytes_read", "bytes_written", "subtree_operations", "ranks", "metadata_events"):
            assert shown[key][row] == handles[identity][key]
        above = shown["parent"][row]
        assert handles[identity]["parent"] == (None if above < 0 else shown["id"][above])
    assert {handle["id"] for handle in handles.values() if handle["set_aside"] is None} <= set(shown["id"])


def test_the_drawings_add_up_to_the_bytes_of_the_layers(reports):
    contents = contents_of(reports("ncckpt4"))
    moved = {(entry["layer"], entry["direction"]): entry["bytes"] for entry in contents["layers"]["layers"]}
    for curve in contents["curves"]:
        edges = unpacked(curve["edges"]) if curve["exact"] else np.linspace(*curve["window_s"], curve["count"] + 1)
        volume = float((unpacked(curve["mean"]).astype(float) * np.diff(edges)).sum())
        assert volume == pytest.approx(moved[curve["layer"], curve["direction"]], rel=1e-5)
    for heat in contents["heat"]["maps"]:
        steps = unpacked(heat["cells"]).astype(float)
        ratio = heat["largest"] / heat["smallest"]
        volume = np.where(steps > 0, heat["smallest"] * ratio ** ((steps - 1) / 65534), 0).sum()
        assert volume == pytest.approx(moved[heat["layer"], heat["direction"]], rel=1e-3)
    for column in contents["nodes"]["columns"]:
        assert sum(column["bytes"]) == moved[column["layer"], column["direction"]]
    rows = contents["timeline"]["rows"]
    names = contents["names"]
    for layer in {name for name, _ in moved}:
        total = sum(volume for row, volume in zip(rows["layer"], rows["bytes"], strict=True) if names[row] == layer)
        assert total == sum(volume for (name, _), volume in moved.items() if name == layer)


def test_request_sizes_are_those_of_the_operations(reports, trace_of):
    moved = contents_of(reports("ncckpt4"))["layers"]["layers"]
    for entry in moved:
        found = request_sizes(trace_of("ncckpt4").layers[entry["layer"]], entry["direction"])
        assert found.operations.sum() + found.empty_operations + found.unknown_operations == entry["operations"]
    sections = {section["id"]: section for section in contents_of(reports("ncckpt4"))["sections"]}
    charts = [chart for block in sections["sizes"]["blocks"] for chart in block.get("blocks", ())]
    assert {chart["title"] for chart in charts} <= {f"{entry['layer']} {entry['direction']}" for entry in moved}
    for chart in charts:
        filled = chart["series"][0]
        assert unpacked(filled["y2"]).max() == 1
        assert len(filled["texts"]) == len(unpacked(filled["x"]))


@pytest.mark.parametrize("bins", [1, 7, 64])
def test_an_envelope_keeps_the_volume_and_the_extremes(bins):
    random = np.random.default_rng(3)
    start = np.sort(random.uniform(0, 10, 200))
    length = random.exponential(0.05, 200) * (random.uniform(size=200) > 0.2)  # some are impulses
    signal = step_signal(start, np.minimum(start + length, 10.0), random.uniform(1, 100, 200), window=(0.0, 10.0))
    shown = envelope(signal, most_steps=10, bins=bins)
    assert not shown.exact
    assert len(shown.mean) == bins
    assert (shown.mean * np.diff(shown.edges)).sum() == pytest.approx(signal.volume)
    for place in range(bins):
        inside = (signal.times[:-1] < shown.edges[place + 1]) & (signal.times[1:] > shown.edges[place])
        assert shown.high[place] == signal.values[inside].max()
        assert shown.low[place] == signal.values[inside].min()


def test_a_short_signal_without_impulses_is_kept_as_it_is():
    signal = step_signal([0.0, 2.0], [1.0, 3.0], [10, 20], window=(0.0, 4.0))
    shown = envelope(signal, most_steps=4, bins=2)
    assert shown.exact
    assert shown.mean is signal.values


def test_the_grid_spreads_operations_over_their_time(make_trace):
    trace = make_trace(
        [("POSIX", "/a", -1)],
        [
            {"begin": 0, "end": 500, "moved": 100},
            {"begin": 250, "end": 250, "moved": 7, "process": 1},
            {"begin": 900, "end": 1000, "moved": 30, "process": 1},
        ],
    )
    grid = volume_grid(trace, lambda operations: operations.process.astype(np.int64), 2, 4)
    np.testing.assert_allclose(grid, [[50, 50, 0, 0], [0, 7, 0, 30]])


def test_what_is_left_out_is_counted(trace_of):
    trace = trace_of("ior384")
    layers = chosen_layers(trace)
    few = Limits(rows=20, handles=9, phases=3, curves=1, drawn_phases=4)
    contents = report_contents(trace, layers, list(layer_periods(layers)), None, few).to_dict()
    assert contents["cut"]["curves"] == 2
    assert contents["cut"]["MPI-IO read phases"] > 3
    strip = contents["curves"][0]["phases"]
    assert strip["total"] == contents["cut"]["MPI-IO read phases"]
    assert len(unpacked(strip["start"])) == -(-strip["total"] // strip["together"]) <= 4
    rows = contents["timeline"]["rows"]
    assert not contents["timeline"]["by_file"]
    assert contents["timeline"]["ranks_a_row"] == 20
    assert len(rows["rank"]) == 20
    assert rows["last_rank"][-1] == 383
    assert sum(rows["operations"]) == 61440
    assert len(contents["handles"]["handles"]["id"]) == 9
    assert contents["handles"]["shown_total"] > 9


def test_limits_go_down_to_a_floor():
    limits = Limits()
    for _ in range(30):
        limits = limits.halved()
    assert all(getattr(limits, field.name) == 8 for field in fields(limits))


@pytest.mark.parametrize("name", ["ncckpt4", "ior384", "ckpt4_compiler_flush", "ckpt16"])
def test_reports_of_real_archives_are_small(reports, name):
    assert reports(name).stat().st_size <= 2_000_000


def test_a_page_that_would_be_too_large_is_made_smaller(trace_of, tmp_path):
    whole = write_report(trace_of("ior384"), tmp_path / "whole.html")
    small = write_report(trace_of("ior384"), tmp_path / "small.html", most_bytes=whole.bytes // 2)
    assert small.bytes <= whole.bytes // 2
    assert small.path.stat().st_size == small.bytes
    assert whole.bytes <= MOST_BYTES


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&amp;", "\u2028", "\ud800", "a" * 10_000])
def test_no_text_ends_the_element_that_holds_the_contents(text):
    made = page({"text": text, text: 1}, text)
    assert made.count("</script>") == 2
    assert made.count("<!--") == 0
    held = re.search(r'id="contents">(.*?)</script>', made)
    assert held
    assert held[1].isascii()
    assert json.loads(held[1])["text"] == text.replace("\ud800", "\ufffd")


def test_long_names_lose_their_middle_once():
    names = Names(100)
    assert names.numbers(["a", "b", "a"]) == [0, 1, 0]
    number = names.number("x" * 5000 + "end")
    kept = names.table()[number]
    assert len(kept) <= 100
    assert kept.endswith("end")
    assert shortened(kept, 100) == kept
    assert without_long_text({"k" * 200: ["v" * 200]}, 60) == {shortened("k" * 200, 60): [shortened("v" * 200, 60)]}


def test_every_number_has_a_definition(reports):
    contents = contents_of(reports("ncckpt4"))
    folder = files("iostrata.export.page").joinpath("browser")
    code = "".join(
        folder.joinpath(name).read_text(encoding="utf-8") for name in (*BASE, *PICTURES) if name.endswith(".js")
    )
    kinds = "bytes|count|fixed|interval|phrase|rate|ratio|seconds|share|times|word"
    columns = set(re.findall(rf"'(?:{kinds})', '([^'.]+)'\]", code))
    used = columns | set(re.findall(r"definitionOf\('([^']+)'\)", code)) | {one["about"] for one in contents["metrics"]}
    assert len(used) > 35
    assert used <= set(contents["definitions"])


def test_a_signal_without_a_period_says_why_at_the_top(make_trace, tmp_path):
    trace = make_trace([("POSIX", "/a", -1)], [{"begin": 10, "end": 20, "moved": 5}])
    written = write_report(trace, tmp_path / "one.html")
    head = contents_of(written.path)["headline"]
    assert head[0] == "The program wrote 5 B through POSIX, on 1 of 3 ranks."
    result = detect_period(trace.layers["POSIX"].bandwidth("write"))
    assert head[1].lower().endswith(result.reason.lower())


def test_a_trace_without_application_files_has_a_report(make_trace: Callable[..., Trace], tmp_path: Path) -> None:
    trace = make_trace([("POSIX", "/proc/x", -1)], [{"begin": 10, "end": 20, "moved": 5}])
    written = write_report(trace, tmp_path / "none.html")
    assert contents_of(written.path)["headline"] == ["No bytes were moved on the selected files."]


def test_iterations_are_drawn_over_one_another_and_over_time(reports, trace_of):
    contents = contents_of(reports("ckpt4"))
    loops = find_loops(trace_of("ckpt4")).outermost
    assert [one["total"] for one in contents["loops"]] == [one.count for one in loops]
    for strip, loop in zip(contents["loops"], loops, strict=True):
        assert unpacked(strip["start"]).tolist() == [one.begin_s for one in loop.iterations]
    (section,) = (one for one in contents["sections"] if one["id"] == "loops")
    charts = [one for block in section["blocks"] if block["block"] == "beside" for one in block["blocks"]]
    assert {one["title"] for one in charts} == {"MPI-IO write", "POSIX write", "ISOC write", "POSIX read"}
    for chart in charts:
        median = next(one for one in chart["series"] if "bold" in one["tone"])
        assert len(unpacked(median["y"])) == 64
        assert len(chart["series"]) <= Limits().iterations + 7
    checkpoint = next(one for one in charts if one["title"] == "POSIX write")
    # Each iteration writes 8 MiB in 64 columns.
    for series in checkpoint["series"]:
        np.testing.assert_allclose(unpacked(series["y"]).sum() * series["every"][1], 2**23, rtol=1e-5)


def test_a_loop_of_very_many_iterations_does_not_grow_the_page(make_trace):
    steps = [
        {"begin": 100 * number + place, "end": 100 * number + place + 1, "moved": size, "requested": size}
        for number in range(4000)
        for place, size in enumerate((3, 5, 7))
    ]
    trace = make_trace([("POSIX", "/data/out", -1)], steps, length=400_000)
    periods = list(layer_periods(chosen_layers(trace)))
    found = find_loops(trace)
    (strip,) = loop_strips(found, Limits())
    assert strip["total"] == 4000
    assert len(unpacked(strip["start"])) <= Limits().phases
    charts = json.dumps([block.to_dict() for block in loop_charts(found, periods, Limits())])
    assert len(charts) < 40_000


def test_collective_calls_are_those_of_the_flows(reports, trace_of):
    shown = contents_of(reports("ncckpt4"))["collectives"]
    flows = {
        (flow.upper, flow.lower, flow.direction): flow
        for flow in trace_of("ncckpt4").flows
        if flow.adjacent and len(flow.collectives)
    }
    assert {(one["upper"], one["lower"], one["direction"]) for one in shown} == set(flows)
    for one in shown:
        flow = flows[one["upper"], one["lower"], one["direction"]]
        calls, second = flow.collectives, flow.traffic.window.ticks_per_second
        columns = (calls.begin / second, calls.end / second, calls.participants, calls.movers, calls.bytes)
        expected = list(zip(*(column.tolist() for column in columns), strict=True))
        assert one["calls"] == len(calls) == len(expected)
        names = ("start", "end", "participants_most", "movers_most", "call_bytes")
        found = zip(*(unpacked(one[name]).tolist() for name in names), strict=True)
        for call, wanted in zip(found, expected, strict=True):
            assert call == pytest.approx(wanted)
        assert one["movers"]["min"] == min(row[3] for row in expected)


def test_many_collective_calls_are_put_together_without_losing_any(trace_of):
    flows = trace_of("ncckpt4").flows
    whole = collective_calls(flows, Limits())
    for one, few in zip(whole, collective_calls(flows, Limits(calls=8)), strict=True):
        assert len(unpacked(few["start"])) <= 8
        assert unpacked(few["call_bytes"]).sum() == pytest.approx(unpacked(one["call_bytes"]).sum())
        assert unpacked(few["movers_most"]).max() == unpacked(one["movers_most"]).max()
        assert unpacked(few["movers_least"]).min() == unpacked(one["movers_least"]).min()
        assert unpacked(few["end"]).max() == unpacked(one["end"]).max()


def test_a_trace_of_many_ranks_gives_a_page_within_the_limit(reports):
    path = reports("many ranks")
    contents = contents_of(path)
    assert path.stat().st_size <= MOST_BYTES
    assert contents["layers"]["trace"]["ranks"] == 4096
    assert sum(entry["operations"] for entry in contents["layers"]["layers"]) > 200_000
    assert contents["collectives"][0]["participants"]["max"] == 4096


def test_hidden_bytes_pass_through_handles_below_those_of_the_upper_layer(reports):
    told = contents_of(reports("ncckpt4"))["definitions"]["hidden"]
    assert "through handles below those of the upper layer" in told


def test_call_paths_add_up_to_the_time_and_bytes_of_the_layers(trace_of):
    trace = trace_of("ckpt4_compiler")
    contents = report_contents(trace, list(trace.layers.values()), []).more
    calls, paths = contents["calls"], contents["calls"]["paths"]
    names = contents["names"]
    assert all(parent < row for row, parent in enumerate(paths["parent"]))
    seconds = trace.calls.totals.group_seconds
    groups = dict.fromkeys(trace.order, 0.0)
    for group, own, does_io in zip(paths["group"], paths["own_s"], paths["does_io"], strict=True):
        if does_io:
            groups[calls["groups"][group]] += own
    assert groups == pytest.approx({name: seconds[name] for name in trace.order})
    roots = [row for row, parent in enumerate(paths["parent"]) if parent < 0]
    assert [names[paths["where"][row]] for row in roots] == ["main (/scratch/demo/source/ckpt.c:14)"]
    assert sum(paths["io_s"][row] for row in roots) == pytest.approx(sum(groups.values()))
    assert sum(groups.values()) == pytest.approx(calls["io_s"])
    for column, direction in (("read", "read"), ("written", "write")):
        moved = sum(layer.statistics(direction).bytes for layer in trace.layers.values())
        assert sum(paths[column]) == moved
    few = report_contents(trace, list(trace.layers.values()), [], limits=Limits(call_paths=8)).more["calls"]
    assert len(few["paths"]["parent"]) == 8 < few["total"]
    assert all(parent < row for row, parent in enumerate(few["paths"]["parent"]))


def test_a_trace_without_enter_and_leave_has_no_call_paths(trace_of):
    trace = trace_of("ior384")
    assert report_contents(trace, list(trace.layers.values()), []).more["calls"] is None


def test_no_advice_is_shortened_on_the_page() -> None:
    assert max(len(rule.advice) for rule in rules()) <= Limits().characters
