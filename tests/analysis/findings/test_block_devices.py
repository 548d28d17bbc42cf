"""Archives as lo2s makes them: calls of a thread, and the requests to a block device in a process of its own."""

import json

import iostrata
import otf2
import pytest
from iostrata.analysis.comparison.headline import headline_of
from iostrata.analysis.findings import find
from iostrata.cli import main
from otf2.enums import (
    IoHandleFlag,
    IoOperationFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    LocationGroupType,
)

MIB = 2**20


@pytest.fixture
def folder(tmp_path):
    """Ten writes of 1 MiB by POSIX, each of which the device does 10 ms later, but half of the last meanwhile."""
    with otf2.writer.open(str(tmp_path / "made"), timer_resolution=10**6) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node1", class_name="machine")
        devices = definitions.system_tree_node("block devices", parent=node)
        handles, threads = [], []
        for name, place, file, paradigm in (
            ("proc 1", node, "/data/out.bin", "POSIX"),
            ("sda", devices, "/dev/sda", "block_io"),
        ):
            group = definitions.location_group(name, LocationGroupType.PROCESS, place)
            threads.append(trace.event_writer("thread", group=group))
            kind = definitions.io_paradigm(paradigm, paradigm, IoParadigmClass.PARALLEL, IoParadigmFlag.OS, {})
            known = definitions.io_regular_file(file, node)
            handles.append(definitions.io_handle(name, known, kind, IoHandleFlag.NONE, None, None))
        for number in range(10):
            for row, (thread, handle) in enumerate(zip(threads, handles, strict=True)):
                begin = 10**6 * number + (2500 if number == 9 else 10_000) * row
                thread.io_operation_begin(begin, handle, IoOperationMode.WRITE, IoOperationFlag.NONE, MIB, number)
                thread.io_operation_complete(begin + 5000, handle, MIB, number)
    return tmp_path / "made"


@pytest.mark.parametrize("engine", ["direct", "library"])
def test_a_device_is_a_layer_below_posix_and_no_rank(folder, engine):
    trace = iostrata.open_trace(folder, engine=engine)
    assert list(trace.layers) == ["POSIX", "block_io"]
    headline = headline_of(trace, ())
    assert headline.mean_io_s == headline.io_s, "one rank: the device adds nothing to its mean"
    assert "most of it POSIX writes" in headline.text
    assert (trace.ranks, trace.definitions.groups.rank.tolist()) == (1, [0, -1])
    assert trace.set_aside.operations == 0
    assert {name: layer.statistics("write").bytes for name, layer in trace.layers.items()} == {
        "POSIX": 10 * MIB,
        "block_io": 10 * MIB,
    }


def test_nothing_is_wrong_with_it(folder, capsys):
    assert find(iostrata.open_trace(folder)) == ()
    assert main([str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "1 process, 1 node" in shown
    assert "[]" not in shown


def test_a_device_stands_beside_posix(folder, capsys):
    assert main(["compare", str(folder), "--json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert (pair["upper"], pair["lower"], pair["upper_bytes"], pair["lower_layer_bytes"]) == (
        "POSIX", "block_io", 10 * MIB, 10 * MIB,
    )  # fmt: skip
    assert (pair["writers_upper"], pair["lower_layer_writers"], pair["amplification"]) == (1, None, None)
    assert pair["verdict"] == "same"
    assert pair["lower_bytes_meanwhile"] == MIB / 2
    assert main(["compare", str(folder)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "POSIX | block_io write" in shown
    assert "bear neither process nor file" in shown
    assert "block_io write: 524 kB of 10.5 MB (5 %) while a POSIX write was under way" in shown
    assert main(["compare", str(folder), "--json", "--memory", "400M"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"][0]["lower_bytes_meanwhile"] is None
