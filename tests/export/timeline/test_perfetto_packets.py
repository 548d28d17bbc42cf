"""Packets of Perfetto: read back by the types of its own package, they hold what the JSON of the same trace does."""

import json
from pathlib import Path

import iostrata
import pytest
from iostrata.export.timeline.perfetto import write_perfetto
from iostrata.export.timeline.perfetto_packets import write_perfetto_packets
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

FIXTURES = Path(__file__).parents[3] / "fixtures"


def from_json(path):
    """Return slices and values of counters by the names of their tracks."""
    events = json.loads(path.read_text())["traceEvents"]
    named = {(one["pid"], one["tid"], one["name"]): one["args"] for one in events if one["ph"] == "M"}

    def title(event):
        process = named[event["pid"], 0, "process_name"]["name"]
        return process, named[event["pid"], event["tid"], "thread_name"]["name"]

    slices = [
        (*title(one), one["name"], one["cat"], round(one["ts"] * 1000), round(one["dur"] * 1000), one["args"])
        for one in events
        if one["ph"] == "X"
    ]
    counters = [(one["name"], round(one["ts"] * 1000), *one["args"].values()) for one in events if one["ph"] == "C"]
    return slices, counters


def from_packets(path):
    """Return the same of packets."""
    trace = Trace.FromString(path.read_bytes())
    tracks, texts, slices, counters, begun = {}, {}, [], [], {}
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        for kind in ("event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values"):
            for one in getattr(packet.interned_data, kind):
                text = getattr(one, "str", None) if kind == "debug_annotation_string_values" else one.name
                texts[kind, one.iid] = text.decode() if isinstance(text, bytes) else text
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        track = tracks[event.track_uuid]
        if event.type == TrackEvent.TYPE_COUNTER:
            assert track.counter.unit_name == "MB/s"
            counters.append((track.name, packet.timestamp, event.double_counter_value))
        elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in begun
            told = {}
            for one in event.debug_annotations:
                value = getattr(one, one.WhichOneof("value"))
                if one.WhichOneof("value") == "string_value_iid":
                    value = texts["debug_annotation_string_values", value]
                told[texts["debug_annotation_names", one.name_iid]] = None if value == "" else value
            names = texts["event_names", event.name_iid], texts["event_categories", event.category_iids[0]]
            title = tracks[track.parent_uuid].process.process_name, track.name
            begun[event.track_uuid] = (*title, *names, packet.timestamp, told)
        else:
            *names, start, told = begun.pop(event.track_uuid)
            slices.append((*names, start, packet.timestamp - start, told))
    assert not begun
    return slices, counters


@pytest.mark.parametrize("name", ["ncckpt4", "ckpt4", "threads2"])
def test_packets_hold_what_json_does(name, tmp_path):
    trace = iostrata.open_trace(FIXTURES / name)
    as_json = write_perfetto(trace, tmp_path / "a.perfetto.json")
    packets = write_perfetto_packets(trace, tmp_path / "a.perfetto-trace")
    assert (packets.slices, packets.operations) == (as_json.slices, as_json.operations)
    assert packets.bytes == (tmp_path / "a.perfetto-trace").stat().st_size < as_json.bytes / 2
    expected, found = from_json(tmp_path / "a.perfetto.json"), from_packets(tmp_path / "a.perfetto-trace")
    assert len(expected[0]) > 100
    assert len(expected[1]) > 10
    assert found[0] == expected[0]
    assert found[1] == expected[1]


def test_flows_of_packets_are_the_arrows_of_json(tmp_path):
    trace = iostrata.open_trace(FIXTURES / "ncckpt4")
    write_perfetto(trace, tmp_path / "a.perfetto.json")
    write_perfetto_packets(trace, tmp_path / "a.perfetto-trace")
    events = json.loads((tmp_path / "a.perfetto.json").read_text())["traceEvents"]
    packets = Trace.FromString((tmp_path / "a.perfetto-trace").read_bytes()).packet
    ends = {one["id"]: round(one["ts"] * 1000) for one in events if one["ph"] == "f"}
    assert len(ends) > 100
    assert {flow: one.timestamp for one in packets for flow in one.track_event.terminating_flow_ids} == ends
    begun = [flow for one in packets for flow in one.track_event.flow_ids]
    assert sorted(begun) == sorted(ends)
    assert all(one.timestamp <= ends[flow] for one in packets for flow in one.track_event.flow_ids)


def test_the_command_writes_packets(tmp_path):
    from iostrata.cli import main

    assert main(["convert", str(FIXTURES / "serial1"), str(tmp_path / "a.perfetto-trace")]) == 0
    slices, _ = from_packets(tmp_path / "a.perfetto-trace")
    assert any(one[1].startswith("POSIX") for one in slices)
