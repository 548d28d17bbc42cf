"""TAU's I/O wrapper: trace events with the result beside the arguments, and streams among the calls of POSIX."""

import json

import iostrata
import pytest
from iostrata.cli import main
from iostrata.inputs.dftracer.tau import recognises
from iostrata.inputs.recognition import find_recorder

pytest.importorskip("numba")

START = 1_636_144_555_000_000


def event(name, at, dur, result, pathname=None, cat="POSIX", rank=3, **arguments):
    told = {"ts": START + at, "dur": dur, "ph": "X", "tid": 0, "pid": rank, "step": 0, "cat": cat, "name": name}
    if arguments:
        told["args"] = arguments
    if pathname is not None:
        told["pathname"] = pathname
    return json.dumps(told if result is None else {**told, "return": result})


EVENTS = [
    event("fopen", 0, 600, "0x2ea32c0", path="log.lammps", mode="w"),
    event("fprintf", 1000, 30, 20, "log.lammps", stream="0x2ea32c0"),
    event("fwrite", 2000, 10, 27, "log.lammps", ptr="0xa5", size=8, nmemb=27, stream="0x2ea32c0"),
    event("open", 3000, 50, 5, path="/data", flags=0),
    event("write", 4000, 100, 4096, "/data", fd=5, count=8192),
    event("read", 5000, 100, 18446744073709551615, "/data", fd=5, count=8),
    event("close", 6000, 5, 0, "/data", fd=5),
    event("fclose", 7000, 9, 0, "log.lammps", fp="0x2ea32c0"),
    event("program exit", 9000, 1000, None, cat="TAU"),
]


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "events.json"
    lines = ",\n".join(EVENTS).replace('"fd": 5, "count": 8}', '"fd": 5, "buf": 0x7fff, "count": 8}')
    path.write_text(f"[\n{lines}\n]\n")
    assert find_recorder(path).name == "TAU"
    return iostrata.open_trace(path, files="all")


def test_calls_are_operations_with_what_they_returned(trace):
    told = {
        (name, way): (one.operations, one.bytes, one.undefined_bytes_operations)
        for name, layer in trace.layers.items()
        for way in layer.directions
        for one in [layer.statistics(way)]
    }
    # A result of −1 is no number of bytes.
    assert told == {
        ("ISOC", "write"): (2, 20 + 27 * 8, 0),
        ("POSIX", "write"): (1, 4096, 0),
        ("POSIX", "read"): (1, 0, 1),
    }
    assert not trace.damage.damaged
    assert trace.duration == pytest.approx(0.01)
    assert trace.definitions.groups.rank.tolist() == [3]
    assert trace.definitions.recording.recorder == "TAU"


def test_files_and_opens_are_of_their_layer(trace):
    table = trace.breakdown("file")
    opens = dict(zip(zip(table.layer, table.key, strict=True), table.columns["opens"].tolist(), strict=True))
    assert opens == {("ISOC", "log.lammps"): 1, ("POSIX", "/data"): 1}


@pytest.mark.parametrize("result", ["NaN", "nan", 10**30, "1e300", "-inf", 1.5e300, "many", 2**60])
def test_a_result_that_is_no_number_of_bytes_is_damage_and_no_write_of_nothing(tmp_path, result):
    path = tmp_path / "events.json"
    told = event("write", 4100, 100, 1, "/data", fd=5).replace('"return": 1', f'"return": {result}')
    path.write_text("[\n" + ",\n".join([*EVENTS, told]) + "\n]\n")
    trace = iostrata.open_trace(path, files="all")
    one = trace.layers["POSIX"].statistics("write")
    assert (one.operations, one.bytes) == (1, 4096)
    (lost,) = trace.damage.locations
    assert "bytes" in lost.reason


def test_bytes_that_nobody_knows_are_not_nothing(tmp_path, capsys):
    path = tmp_path / "events.json"
    path.write_text("[\n" + ",\n".join([EVENTS[3], event("write", 4000, 100, None, "/data", fd=5)]) + "\n]\n")
    assert main(["layers", str(path), "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["layers"]
    assert (entry["operations"], entry["bytes"], entry["undefined_bytes_operations"]) == (1, None, 1)
    assert main([str(path)]) == 0
    assert "0 B" not in capsys.readouterr().out


def test_what_has_no_step_is_no_file_of_tau(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('[\n{"id": "1", "name": "write", "cat": "POSIX", "pid": 1, "tid": 1, "ts": 1, "ph": "X"}\n]')
    assert not recognises(path.read_bytes(), path)
    assert not recognises(f"[\n{EVENTS[0]}".encode(), tmp_path)
    assert recognises(f"[\n{EVENTS[0]}".encode(), path)
