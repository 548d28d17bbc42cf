"""Statistics and signals of all layers, against plain sums over the table of operations, and as stored."""

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.model.codes import UNDEFINED_TIME, UNDEFINED_UINT64, IoMode, Status

RECORDINGS = (
    "aperiodic4",
    "ckpt4",
    "late4",
    "mixed4",
    "ncckpt4",
    "nonblocking4",
    "serial1",
    "small_files2",
    "threads2",
)
BY = ("rank", "file")
SEVERAL = ("ckpt4", "ncckpt4", "nonblocking4", "threads2")


def seconds_of_union(spans):
    total, reached = 0, -1
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def layer_results(layer):
    for direction in (*layer.directions, "total"):
        yield layer.statistics(direction)
        yield layer.bandwidth(direction)
        yield layer.in_flight(direction)
        yield layer.operation_rate(direction)
        yield layer.request_counts(direction)
    yield layer.metadata_rate()
    yield [layer.flushes, layer.flush_busy_s, layer.window, layer.metadata_events]


@pytest.mark.parametrize("name", RECORDINGS)
def test_layers_are_those_stored(fixtures, held, name):
    trace = open_trace(fixtures / name)
    held(name, {layer.name: list(layer_results(layer)) for layer in trace.layers.values()})


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("options", [{"memory": 400_000_000}, {"window": (0.5, 2.0)}, {"files": "all"}])
def test_layers_read_otherwise_are_those_stored(fixtures, held, name, options):
    trace = open_trace(fixtures / name, **options)
    found = {}
    for layer in trace.layers.values():
        parts = [layer.statistics(one) for one in (*layer.directions, "total")]
        signals = [layer.bandwidth(one) for one in layer.directions]
        found[layer.name] = {"parts": parts, "signals": signals}
        if "memory" not in options:
            found[layer.name] |= {key: [one.statistics("total") for one in layer.by(key).values()] for key in BY}
    held(f"{name}_{next(iter(options))}", [found, trace.set_aside, trace.damage])


@pytest.mark.parametrize("name", RECORDINGS)
def test_statistics_are_sums_over_the_operations(fixtures, name):
    trace = open_trace(fixtures / name)
    looked_at = 0
    for layer in trace.layers.values():
        ops = layer.operations
        per_second = trace.definitions.clock.ticks_per_second
        for direction, mode in (("read", IoMode.READ), ("write", IoMode.WRITE)):
            rows = [one for one in range(len(ops.begin)) if ops.mode[one] == mode]
            found = layer.statistics(direction)
            assert found.operations == len(rows)
            done = [row for row in rows if ops.end[row] != UNDEFINED_TIME and ops.status[row] == Status.COMPLETE]
            moved = [int(ops.moved[row]) for row in done if ops.moved[row] != UNDEFINED_UINT64]
            assert found.bytes == sum(moved)
            spans = [(int(ops.begin[row]), int(ops.end[row])) for row in rows if ops.end[row] != UNDEFINED_TIME]
            assert found.summed_s * per_second == pytest.approx(sum(end - begin for begin, end in spans))
            assert found.busy_s * per_second == pytest.approx(seconds_of_union(spans))
            assert layer.bandwidth(direction).volume == pytest.approx(found.bytes)
            looked_at += len(rows)
    assert looked_at


@pytest.mark.parametrize("name", SEVERAL)
def test_parts_add_up_to_the_whole(fixtures, name):
    trace = open_trace(fixtures / name)
    for layer in trace.layers.values():
        whole = layer.statistics("total")
        for key in ("rank", "file"):
            parts = [one.statistics("total") for one in layer.by(key).values()]
            assert sum(one.operations for one in parts) == whole.operations
            assert sum(one.bytes for one in parts) == whole.bytes
            assert sum(one.summed_s for one in parts) == pytest.approx(whole.summed_s)
            assert max((one.busy_s for one in parts), default=0.0) <= whole.busy_s * (1 + 1e-9)
        volumes = np.array([layer.bandwidth(one).volume for one in layer.directions])
        assert volumes.sum() == pytest.approx(layer.bandwidth("total").volume)
