"""TMIO's output in both forms, and damaged."""

import importlib.util
import json
from pathlib import Path

import iostrata
import pytest
from iostrata.cli import main
from iostrata.layers.selection.source import open_source

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[1] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)
tmio_packed = made.tmio_packed


msgpack = pytest.importorskip("msgpack")


def json_record(rows, **totals):
    """Return a record as TMIO's JSON has it; rows are (bandwidth, start, end)."""
    rate, start, end = map(list, zip(*rows, strict=True))
    return {
        "total_bytes": sum(b * (e - s) for b, s, e in rows),
        "number_of_ranks": 4,
        **totals,
        "bandwidth": {"b_rank_avr": rate, "t_rank_s": start, "t_rank_e": end},
    }


def test_packed_rows_are_operations_of_nobody_in_particular(small_tmio):
    trace = iostrata.open_trace(small_tmio)
    layer = trace.layers["MPI-IO"]
    assert (layer.statistics("write").bytes, layer.statistics("write").operations) == (600, 3)
    assert layer.statistics("read").bytes == 10
    assert trace.ranks == 3
    recording = trace.definitions.recording
    assert (recording.ranks, recording.handles, recording.rows) == (False, "absent", "operations")
    with pytest.raises(iostrata.SelectionError, match="which rank"):
        trace.breakdown("rank")


def test_what_a_finding_costs_is_not_told_where_nobody_knows_which_rank_spends_it(tmp_path):
    """One write in twenty takes a hundred times as long; of 300 ranks that is no loss of all their times together."""
    path = tmp_path / "t"
    rows = [(10**6, 0.1 * n, 0.1 * n + (5.0 if n % 20 == 0 else 0.05)) for n in range(400)]
    path.write_bytes(msgpack.packb(tmio_packed(rows, ranks=300)))
    findings = {one.id: one for one in iostrata.compare_layers(iostrata.open_trace(path)).findings}
    assert "slow-operations" in findings
    assert {(one.cost_s, one.severity) for one in findings.values()} == {(None, "info")}
    assert "rank" not in findings["slow-operations"].text


def test_rows_of_several_operations_are_intervals(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(msgpack.packb(tmio_packed([(100, 1.0, 2.0)], most=5)))
    assert open_source(path).definitions.recording.rows == "intervals"


@pytest.mark.parametrize(("largest", "unit"), [(25.2, 10**6), (25, 1)])
def test_fractions_tell_megabytes(tmp_path, largest, unit):
    path = tmp_path / "t"
    record = json_record([(100.0, 1.0, 2.0), (50.0, 3.0, 5.0)], max_transfersize_over_ranks=largest)
    path.write_text("\n".join(json.dumps({kind: record}) for kind in ("write_sync", "read_async_t", "read_async_b")))
    trace = iostrata.open_trace(path)
    assert trace.layers["MPI-IO"].statistics("write").bytes == 200 * unit
    # Those of async_b are the same transfers once more.
    assert trace.layers["MPI-IO"].statistics("read").bytes == 200 * unit


@pytest.mark.parametrize(("rate", "unit"), [(2516.7, 10**6), (2500.0, 1), (2500.00001, 1)])
def test_rows_of_fractions_tell_megabytes_too(tmp_path, capsys, rate, unit):
    path = tmp_path / "t"
    record = json_record([(rate, 1.0, 1.01), (400.0, 3.0, 3.01)], total_bytes=29)
    path.write_text(json.dumps({"read_sync": record}))
    moved = iostrata.open_trace(path).layers["MPI-IO"].statistics("read").bytes
    assert moved == (29_167_000 if unit > 1 else 29)
    assert main(["layers", str(path)]) == 0
    name = "megabytes" if unit > 1 else "bytes"
    assert f"not recorded: the unit of amounts (taken as {name}), handles" in capsys.readouterr().out


def test_a_copy_says_that_the_unit_was_not_recorded(tmp_path, capsys):
    path = tmp_path / "log"
    path.write_text(json.dumps({"read_sync": json_record([(10.0, 1.0, 2.0)])}))
    for name in ("t.parquet", "t.otf2"):
        assert main(["convert", str(path), str(tmp_path / name)]) == 0
        capsys.readouterr()
        assert main(["layers", str(tmp_path / name), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["trace"]["not_recorded"][0].startswith("the unit of amounts")


def test_one_document_over_many_lines(tmp_path):
    path = tmp_path / "t"
    path.write_text(json.dumps({"read_sync": json_record([(10.0, 1.0, 2.0)])}, indent=2))
    assert iostrata.open_trace(path).layers["MPI-IO"].statistics("read").bytes == 10


def test_rows_that_do_not_add_up_are_told(tmp_path):
    path = tmp_path / "t"
    path.write_text(json.dumps({"read_sync": json_record([(10.0, 1.0, 2.0)], total_bytes=99)}))
    assert any("do not add up" in note for note in open_source(path).definitions.recording.notes)


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_a_cut_file(small_tmio, keep):
    data = small_tmio.read_bytes()
    small_tmio.write_bytes(data[: int(len(data) * keep)])
    if keep < 0.5:
        with pytest.raises(iostrata.TraceError, match="cut"):
            iostrata.open_trace(small_tmio)
    else:
        assert iostrata.open_trace(small_tmio).damage.damaged


def test_rows_that_cannot_be(tmp_path):
    path = tmp_path / "t"
    nan, far = float("nan"), 1e300
    rows = [
        (5, 1.0, 2.0),
        (nan, 1.0, 2.0),
        (5, nan, 2.0),
        (5, 2.0, 1.0),
        (-5, 1.0, 2.0),
        (5, far, far),
        (far, 1.0, 2.0),
    ]
    record = tmio_packed([(5, 1.0, 2.0)])
    record[13] = [[*row, 0, 0, 0, 0, 0, 1] for row in rows]
    path.write_bytes(msgpack.packb(record) + msgpack.packb(["write_sync", 1]) + msgpack.packb({"a": 1}))
    trace = iostrata.open_trace(path)
    assert trace.layers["MPI-IO"].statistics("write").operations == 1
    assert trace.damage.events_expected - trace.damage.events_read == 8


def test_a_cut_within_a_large_record_is_told(tmp_path):
    first = msgpack.packb(tmio_packed([(100, 1.0, 2.0)]))
    large = msgpack.packb(tmio_packed([(100, float(row), row + 0.5) for row in range(100_000)]))
    path = tmp_path / "tmio.out"
    path.write_bytes(first + large[: len(large) * 3 // 4])
    trace = iostrata.open_trace(path)
    assert trace.layers["MPI-IO"].statistics("write").bytes == 100
    assert "the last record is cut" in [one.reason for one in trace.damage.locations]


ODD_RECORDS = [
    {"bandwidth": {"b_rank_avr": [[100.0, 1.0]], "t_rank_s": [[0.0, 1.0]], "t_rank_e": [[1.0, 2.0]]}},
    {"bandwidth": {"b_rank_avr": [100.0], "t_rank_s": [0.0]}},
    {"bandwidth": {"b_rank_avr": [100.0, 1.0], "t_rank_s": [0.0], "t_rank_e": [1.0]}},
    {"bandwidth": 5},
    {"total_bytes": None},
    {"number_of_ranks": "two"},
]


@pytest.mark.parametrize("odd", ODD_RECORDS)
def test_a_record_of_another_shape_is_counted(tmp_path, odd):
    path = tmp_path / "tmio.out"
    sound = json_record([(100.0, 1.0, 2.0)])
    path.write_text("".join(json.dumps({"write_sync": one}) + "\n" for one in (sound, {**sound, **odd}, sound)))
    trace = iostrata.open_trace(path)
    assert trace.layers["MPI-IO"].statistics("write").bytes == 200
    assert trace.damage.events_expected - trace.damage.events_read == 1


def test_an_endless_bandwidth_is_left_out(tmp_path):
    path = tmp_path / "tmio.out"
    record = json_record([(100.0, 1.0, 2.0), (float("inf"), 2.0, 2.0), (float("inf"), 2.0, 3.0)], total_bytes=100)
    path.write_text(json.dumps({"write_sync": record}))
    trace = iostrata.open_trace(path)
    assert trace.layers["MPI-IO"].statistics("write").bytes == 100
    assert trace.damage.events_expected - trace.damage.events_read == 2


def test_a_total_without_rows_is_told(tmp_path):
    path = tmp_path / "tmio.out"
    records = [json_record([(100.0, 1.0, 2.0)]), {"total_bytes": 100, "number_of_ranks": 4}]
    path.write_text("".join(json.dumps({"write_sync": one}) + "\n" for one in records))
    assert any(note.startswith("1 record whose rows") for note in open_source(path).definitions.recording.notes)


def test_loops_of_nobody_in_particular_name_neither_ranks_nor_files(tmp_path, capsys):
    path = tmp_path / "t"
    rows = [(1000, 10.0 * phase + 0.1 * n, 10.0 * phase + 0.1 * n + 0.05) for phase in range(9) for n in range(6)]
    path.write_bytes(msgpack.packb(tmio_packed(rows, ranks=300)))
    assert main(["loops", str(path), "--iterations"]) == 0
    text = capsys.readouterr().out
    assert "9 × (6 × write" in text
    assert not {"-1", "all files", "rank"} & set(text.partition("9 ×")[2].replace("[", " ").split())
    loops = json.loads((main(["loops", str(path), "--json"]), capsys.readouterr().out)[1])["loops"]
    assert [(one["ranks"], one["body"][0]["file"]) for one in loops] == [([], "")]
    assert main([str(path)]) == 0
    assert "9 × (6 × write 1 kB), every 10 s; 6 kB written each; MPI-IO" in capsys.readouterr().out


def test_a_key_that_is_a_list_is_damage(tmp_path):
    path = tmp_path / "tmio.msgpack"
    path.write_bytes(msgpack.packb(tmio_packed([(100, 1.0, 2.0)])) + b"\x81\x91\x01\x02")
    trace = iostrata.open_trace(path)
    assert trace.layers["MPI-IO"].statistics("write").bytes == 100
    assert any("the MessagePack is damaged behind byte" in one.reason for one in trace.damage.locations)


def test_times_without_end_make_no_warning_of_a_library(tmp_path):
    path = tmp_path / "tmio.jsonl"
    bandwidth = {"b_rank_avr": [100.0, 110.0, 90.0], "t_rank_s": [1e999, 1.5, 2.5], "t_rank_e": [0.7, 1e308, 2.9]}
    path.write_text(json.dumps({"write_sync": {"number_of_ranks": 4, "total_bytes": 36, "bandwidth": bandwidth}}))
    # Warnings are errors here: -Infinity and Infinity are added up to what is no number.
    trace = iostrata.open_trace(path)
    assert trace.damage.damaged
    assert sum(one.statistics("write").bytes for one in trace.layers.values()) == 36
