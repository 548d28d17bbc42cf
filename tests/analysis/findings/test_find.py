"""Findings on real archives, with their evidence against numbers from elsewhere, and each rule on both of its sides."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.analysis.comparison.headline import headline_of
from iostrata.analysis.findings import find, rules
from iostrata.analysis.findings.facts import Gain
from iostrata.analysis.findings.find import evidence_units
from iostrata.analysis.findings.rule import SEVERITIES
from iostrata.model.errors import TraceError
from otf2.enums import (
    IoAccessMode,
    IoCreationFlag,
    IoOperationFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    IoStatusFlag,
)

READ, WRITE = IoOperationMode.READ, IoOperationMode.WRITE
COLLECTIVE, PLAIN = IoOperationFlag.COLLECTIVE, IoOperationFlag.NONE

KEYS = {"id", "severity", "layer", "text", "cost_s", "cost_share", "gain_s", "gain_reason", "evidence", "advice"}


@pytest.fixture(scope="module")
def found(fixtures):
    known = {}

    def look(name):
        if name not in known:
            known[name] = find(open_trace(fixtures / name))
        return {one.id: one for one in reversed(known[name])}

    return look


def test_fill_values(found, fixtures):
    one = found("ncckpt4")["fill-values"]
    truth = json.loads((fixtures / "ncckpt4" / "truth.json").read_text())
    # The program writes 83,886,240 bytes; POSIX 167,778,846, 120 of them elsewhere (MANIFEST.md).
    assert one.layer == "netCDF"
    assert one.evidence["ranks"] == [0]
    assert one.evidence["file_count"] == 1
    assert 83_886_080 <= one.evidence["fill_bytes"] <= 167_778_846 - 120 - 83_886_240
    start, end = one.evidence["time_range_s"]
    assert end <= one.evidence["first_program_write_s"]
    assert truth
    amplification = found("ncckpt4")["write-amplification"].evidence
    assert (amplification["upper"], amplification["lower"]) == ("netCDF", "POSIX")
    assert amplification["amplification"] == pytest.approx((167_778_846 - 120) / 83_886_240)
    steps = [(step["upper"], step["lower"]) for step in amplification["steps"]]
    assert steps == [("netCDF", "HDF5"), ("HDF5", "MPI-IO"), ("MPI-IO", "POSIX")]
    assert "NOFILL" in one.advice
    assert 0 < start < end


def test_no_fill_values_where_they_are_off(found):
    assert not {"fill-values", "write-amplification"} & found("ncckpt4_nofill").keys()


def test_fill_values_within_each_step(found):
    one = found("ncckpt4_perstep")["fill-values"]
    assert one.evidence["file_count"] == 20
    assert "fill-values" in found("ncckpt4_indep")


@pytest.mark.parametrize(
    ("name", "ranks", "participants"), [("ckpt4", [0], 4), ("ckpt16", [0, 8], 16), ("ncckpt4", [0], 4)]
)
def test_funnels(found, name, ranks, participants):
    one = found(name)["funnelled-collective"]
    assert (one.layer, one.evidence["lower"], one.evidence["ranks"]) == ("MPI-IO", "POSIX", ranks)
    assert one.evidence["participants"] == participants
    assert "waiting-ranks" in found(name)


def test_romio_writes_from_every_rank(found):
    ids = found("ckpt4_romio")
    assert "funnelled-collective" not in ids
    without = ids["collective-without-benefit"].evidence
    assert (without["calls"], without["upper_operations"], without["lower_operations"]) == (20, 80, 80)


def test_what_romio_writes_beyond_the_request(found):
    one = found("ncckpt4_romio")["data-sieving"].evidence
    # MANIFEST.md: POSIX wrote 168,303,009, MPI-IO 167,778,726; POSIX read 698,708 in all, of which 18,792 on system
    # files and 154,604 were asked for by MPI-IO reads, one of 32 bytes less by POSIX.
    assert one["extra_written_bytes"] == 168_303_009 - 167_778_726
    assert one["read_bytes"] == pytest.approx(698_708 - 18_792 - 154_604, abs=64)
    assert "data-sieving" not in found("ncckpt4")


def test_the_missing_lower_layer(found):
    one = found("ckpt4_linktime")["missing-lower-layer"]
    assert (one.layer, one.evidence["bytes"]) == ("MPI-IO", 167_772_160)
    assert "missing-lower-layer" in found("ior384")
    for name in ("ckpt4", "ncckpt4", "nonblocking4", "threads2"):
        assert "missing-lower-layer" not in found(name)


def test_preallocation_is_hidden_traffic(found):
    one = found("nonblocking4")["hidden-traffic"]
    assert (one.layer, one.evidence["unexplained_bytes"]) == ("POSIX", 4 * 2**20)
    # What fill values explain is not told twice.
    assert "hidden-traffic" not in found("ncckpt4")


def test_independent_writes_of_a_shared_file(found):
    one = found("ncckpt4_indep")["shared-file-independent"]
    assert (one.layer, one.evidence["rank_count"], one.evidence["file_count"]) == ("netCDF", 4, 1)
    assert "shared-file-independent" not in found("ncckpt4")


def test_every_finding_names_files(fixtures):
    found = [(name.name, one) for name in fixtures.iterdir() if name.is_dir() for one in _found_in(name)]
    assert {"slow-operations", "stragglers", "metadata-sync", "slow-iteration"} & {one.id for _, one in found}
    assert [(name, one.id) for name, one in found if not one.files] == []


def _found_in(folder):
    try:
        return find(open_trace(folder))
    except TraceError:
        return ()


def test_few_slow_operations_name_the_files_that_they_are_on_and_not_all_files(tmp_path):
    rows = ["layer,rank,mode,start,end,bytes,file"]
    for number in range(400):
        took = 1.0 if number == 77 else 0.001
        rows.append(f"POSIX,0,write,{number * 0.01},{number * 0.01 + took},4096,/data/part{number}")
    (tmp_path / "table.csv").write_text("\n".join(rows))
    (one,) = (one for one in find(open_trace(tmp_path / "table.csv")) if one.id == "slow-operations")
    assert one.files == ("/data/part77",)
    assert one.text.count("/data/part77") == 1


@pytest.mark.parametrize(("share", "name"), [(0.1, "imbalance"), (0.0, "serial-io")])
def test_who_writes_most_also_waits_in_its_flushes(tmp_path, share, name):
    rows = ["layer,rank,mode,start,end,bytes,file"]
    for number in range(10):
        rows.append(f"POSIX,0,write,{number},{number + 0.01},1000000,/data/one")
        rows.append(f"POSIX,0,flush,{number + 0.01},{number + 0.91},,/data/one")
        for rank in (1, 2, 3):
            what = f"write,{number},{number + 0.001},100000" if share else f"read,{number},{number + 0.001},1"
            rows.append(f"POSIX,{rank},{what},/data/other")
    (tmp_path / "table.csv").write_text("\n".join(rows))
    found = {
        (one.id, one.evidence["direction"]): one for one in find(open_trace(tmp_path / "table.csv")) if one.id == name
    }
    one = found[name, "write"]
    # Of 9.1 s in writes and flushes the other ranks could take three quarters.
    assert one.cost_s == pytest.approx(0.75 * 9.1, abs=0.02)
    assert one.gain_s == pytest.approx((one.cost_s / 2, one.cost_s), rel=0.01)


def test_findings_are_plain_and_ordered(fixtures):
    every = find(open_trace(fixtures / "ncckpt4"))
    ranks = [SEVERITIES.index(one.severity) for one in every]
    assert ranks == sorted(ranks)
    for severity in SEVERITIES:
        costs = [one.cost_s or 0.0 for one in every if one.severity == severity]
        assert costs == sorted(costs, reverse=True)
    for one in every:
        entry = json.loads(json.dumps(one.to_dict(), allow_nan=False))
        assert entry.keys() == KEYS
        assert entry["text"]
        assert entry["advice"]


def test_thresholds_of_the_table_are_what_counts(fixtures):
    trace = open_trace(fixtures / "ncckpt4")
    (rule,) = (rule for rule in rules() if rule.id == "write-amplification")
    assert find(trace, [rule])
    assert not find(trace, [replace(rule, thresholds={**rule.thresholds, "amplification": 2.1})])


def test_damage_is_told_beside_each_finding(fixtures, tmp_path):
    folder = tmp_path / "damaged"
    shutil.copytree(fixtures / "ncckpt4", folder)
    path = max((folder / "traces").glob("*.evt"), key=lambda one: one.stat().st_size)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    found = find(open_trace(folder))
    assert found
    assert all(one.text.endswith("(may come from the trace's damage)") for one in found)
    assert not any("damaged" in one.text for one in find(open_trace(fixtures / "ncckpt4")))


@pytest.mark.parametrize(
    ("size", "count", "expected"), [(4096, 120, True), (65_536, 120, False), (4096, 100, True), (4096, 99, False)]
)
def test_small_requests(written, size, count, expected):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(count):
        written.operate(0, handle, WRITE, 10 * place, 10 * place + 5, size if place else 10**6)
    ids = written.findings()
    assert ("small-requests" in ids) is expected
    if expected:
        evidence = ids["small-requests"].evidence
        assert (evidence["operations"], evidence["small_operations"]) == (count, count - 1)


@pytest.mark.parametrize("stride", [None, 4096, 16_384])
def test_small_requests_that_are_cut_into_smaller_ones_are_told_by_these(written, stride):
    """Ranks write 32 KiB a call, whole, or in eight parts that follow one another or lie apart."""
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for rank, call in product(range(4), range(30)):
        start = 1000 * call
        written.operate(rank, upper, WRITE, start, start + 900, 2**15)
        for piece in range(8 if stride else 1):
            begin, size = start + 100 * piece + 10, 4096 if stride else 2**15
            at = (8 * (30 * rank + call) + piece) * (stride or 2**15)
            written.operate(rank, lower, WRITE, begin, begin + 80 if stride else begin + 880, size, offset=at)
    trace = written.closed()
    found = find(trace)
    (small,) = (one for one in found if one.id == "small-requests")
    text = headline_of(trace, found).text
    assert small.layer == ("POSIX" if stride else "MPI-IO")
    assert ("; they are parts of 120 MPI-IO writes of 32.8 kB on average" in small.text) is bool(stride)
    assert ("since writes are cut into small parts, one after the other; a larger buffer" in text) is (stride == 4096)
    assert ("since writes are cut into small parts that lie apart in the file" in text) is (stride == 16_384)
    assert ("MPI_File_write_all" in small.advice) is (stride == 16_384)


@pytest.mark.parametrize("view", [True, False])
def test_whether_collective_calls_merge_is_not_known_where_files_have_views(written, view):
    """Four ranks write as much as they ask for, in a file whose view may make that many small parts of all ranks."""
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for rank in range(4):
        written.call(rank, "MPI_File_set_view" if view else "MPI_File_get_size", 100, 101)
        for call in range(5):
            start = 100_000 * call + 1000
            written.call(rank, "MPI_File_write_all", start, start + 90_000)
            written.operate(rank, upper, WRITE, start, start + 90_000, 2**18, COLLECTIVE)
            written.operate(rank, lower, WRITE, start + 80_000, start + 80_900, 2**18)
    trace = written.closed()
    found = find(trace)
    ids, text = {one.id for one in found}, headline_of(trace, found).text
    assert ("collective-without-benefit" in ids, "layer-overhead" in ids) == (not view, view)
    assert ("as where a file's view makes data many small parts; parts that lie together could" in text) is view


@pytest.mark.parametrize("pieces", [1, 4])
def test_split_requests(written, pieces):
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for place in range(5):
        start = 1000 * place
        written.operate(0, upper, WRITE, start, start + 900, 2**20, offset=place * 2**20)
        for piece in range(pieces):
            at = place * 2**20 + piece * 2**18 + (512 if piece == 1 else 0)
            begin = start + 100 * piece
            written.operate(0, lower, WRITE, begin + 10, begin + 90, 2**20 // pieces, offset=at)
    ids = written.findings()
    assert ("split-requests" in ids) is (pieces > 1)
    if pieces > 1:
        evidence = ids["split-requests"].evidence
        assert (evidence["split_operations"], evidence["pieces"], evidence["aligned_pieces"]) == (5, 20, 15)
        assert "; 15 of them begin on a 4 KiB boundary" in ids["split-requests"].text
        assert evidence["largest_piece"] == 2**18
        # What else a call takes goes to no piece: five calls of .9 ms each, 80 µs a piece.
        assert ids["split-requests"].cost_s == pytest.approx(20 * 80e-6)


@pytest.mark.parametrize(("stride", "apart"), [(2**14, False), (2**16, True)])
def test_requests_that_gaps_cut_are_told_from_those_that_a_buffer_cuts(written, stride, apart):
    """Four ranks write 64 blocks of 16 KiB a call, side by side as a file view has them, or one after the other."""
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for rank in range(4):
        for call in range(4):
            start = 100_000 * call
            written.operate(rank, upper, WRITE, start, start + 70_000, 2**20)
            for piece in range(64):
                at = stride * (64 * call + piece) + (2**14 * rank if apart else 2**22 * rank)
                begin = start + 1000 * piece + 10
                written.operate(rank, lower, WRITE, begin, begin + 900, 2**14, offset=at)
    one = written.findings()["split-requests"]
    assert ("most of which do not follow one another in the file" in one.text) is apart
    assert ("MPI_File_write_all" in one.advice, "cb_buffer_size" in one.advice) == (apart, not apart)


@pytest.mark.parametrize(("header", "split"), [(616, False), (2**19, True)])
def test_a_header_beside_a_whole_request_is_no_split(written, header, split):
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for start in range(0, 5000, 1000):
        written.operate(0, upper, WRITE, start, start + 900, 2**20)
        written.operate(0, lower, WRITE, start + 10, start + 90, header)
        written.operate(0, lower, WRITE, start + 110, start + 890, 2**20 - header)
    assert ("split-requests" in written.findings()) is split


def test_parts_of_a_program_that_write_as_much_through_other_layers_are_even(written):
    """Ranks 0 and 1 write by MPI-IO what ranks 2 and 3 write by POSIX."""
    for rank in range(4):
        handle = written.handle(written.file(f"/s/{rank}"), written.mpi if rank < 2 else written.posix)
        for step in range(20):
            written.operate(rank, handle, WRITE, 40_000 * step, 40_000 * step + 30_000, 2**20)
    assert "imbalance" not in written.findings()


@pytest.mark.parametrize("share", [0.9, 0.4])
def test_imbalance(written, share):
    handle = written.handle(written.file("/s/a"), written.posix)
    sizes = [share, *[(1 - share) / 3] * 3]
    for rank, part in enumerate(sizes):
        written.operate(rank, handle, WRITE, 10, 20, round(part * 10**8))
    ids = written.findings()
    assert ("imbalance" in ids) is (share > 0.5)
    if share > 0.5:
        evidence = ids["imbalance"].evidence
        assert (evidence["busiest_rank"], evidence["busiest_node"]) == (0, "n0")
        assert evidence["busiest_rank_share"] == pytest.approx(share)
        assert evidence["rank_imbalance"] == pytest.approx(4 * share - 1)


def test_metadata_storm(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(1500):
        written.create(place % 4, handle, 10 + place)
    written.operate(0, handle, WRITE, 5000, 6000, 10)
    evidence = written.findings()["metadata-storm"].evidence
    assert (evidence["metadata_operations"], evidence["transfers"], evidence["most_per_second"]) == (1500, 1, 1500)


@pytest.mark.parametrize(("opened", "wrote"), [(10_000, 1_000), (1_000, 10_000)])
def test_opens_that_take_longer_than_transfers(written, opened, wrote):
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for step in range(10):
        for rank in range(4):
            start = 100_000 * step
            written.call(rank, "MPI_File_open", start, start + opened)
            written.create(rank, upper, start + opened - 5)
            written.create(rank, lower, start + opened - 10)
            written.operate(rank, upper, WRITE, start + 50_000, start + 50_000 + wrote, 2**16)
            written.call(rank, "MPI_File_set_size", start + 80_000, start + 80_000 + opened // 2)
            written.call(rank, "MPI_File_sync", start + 90_000, start + 99_000)
    # A file on which opening takes no time to speak of is not where the time goes.
    written.call(0, "MPI_File_open", 999_000, 999_100)
    written.create(0, written.handle(written.file("/s/b"), written.mpi), 999_050)
    ids = written.findings()
    assert ("metadata-time" in ids) is (opened > wrote)
    if opened > wrote:
        one = ids["metadata-time"]
        # What puts data out is a flush, which has a rule of its own.
        assert "400 ms in 41 opens, 200 ms in 40 MPI_File_set_size calls, beside 40 ms in 40 transfers" in one.text
        assert (one.layer, one.severity) == ("MPI-IO", "warning")
        assert one.evidence["metadata_calls"] == 81
        # Who, where and when, for the jump into the timeline.
        assert (one.ranks, one.files, one.time_range) == ((0, 1, 2, 3), ("/s/a",), pytest.approx((0, 0.985)))
        assert "in 40 transfers, summed over ranks; longest on rank 0, from 0 s to 985 ms" in one.text
        assert one.text.endswith("; costs at most 150 ms, 15 % of the run, of which 135 to 141 ms could be saved")
        assert one.cost_s == pytest.approx(10 * 0.015 + 0.0001)


@pytest.mark.parametrize(("opened", "run", "told"), [(4_000, 1_000_000, True), (4_000, 20_000_000, False)])
def test_opens_that_take_much_of_the_run_beside_its_transfers(written, opened, run, told):
    """Opens take two fifths of the time of the writes: 4 % of a run of 1 s, 0.2 % of one of 20 s."""
    upper = written.handle(written.file("/s/a"), written.mpi)
    for step in range(10):
        for rank in range(4):
            start = run // 10 * step
            written.call(rank, "MPI_File_open", start, start + opened)
            written.create(rank, upper, start + opened - 5)
            written.operate(rank, upper, WRITE, start + 50_000, start + 60_000, 2**16)
    for rank in range(4):
        written.call(rank, "sleep", run - 10, run)
    ids = written.findings()
    assert ("metadata-time" in ids) is told
    if told:
        one = ids["metadata-time"]
        assert (one.severity, one.cost_s) == ("warning", pytest.approx(0.04))
        assert "160 ms in 40 opens, beside 400 ms in 40 transfers" in one.text


def test_how_much_is_written_to_a_shared_file_makes_no_warning(written):
    """Whether sharing costs anything, the trace does not tell."""
    shared = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        for step in range(8):
            written.operate(rank, shared, WRITE, 100_000 * step, 100_000 * step + 90_000, 2**26)
    one = written.findings()["shared-file-independent"]
    assert (one.severity, one.evidence["bytes"]) == ("info", 2**31)


def test_lines_of_a_log_beside_large_blocks_are_no_warning(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(400):
        written.operate(0, handle, WRITE, 1000 * place, 1000 * place + 10, 40)
    written.operate(0, handle, WRITE, 500_000, 700_000, 2**25)
    one = written.findings()["small-requests"]
    assert (one.severity, one.evidence["small_operations"]) == ("info", 400)


@pytest.mark.parametrize("size", [2**21, 2**10])
def test_read_back(written, size):
    handle = written.handle(written.file("/s/a"), written.posix)
    written.operate(1, handle, WRITE, 10, 20, size, offset=0)
    written.operate(1, handle, READ, 30, 40, size, offset=0)
    ids = written.findings()
    assert ("read-back" in ids) is (size > 2**20)
    if size > 2**20:
        assert ids["read-back"].evidence["read_back_bytes"] == size


def test_read_amplification_leaves_out_data_sieving(written):
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    written.operate(0, upper, WRITE, 0, 100, 2**20)
    written.operate(0, lower, READ, 10, 20, 4 * 2**20)
    written.operate(0, lower, WRITE, 30, 40, 4 * 2**20)
    written.operate(0, upper, READ, 200, 300, 2**20)
    written.operate(0, lower, READ, 210, 220, 3 * 2**20)
    ids = written.findings()
    assert ids["read-amplification"].evidence["amplification"] == 3.0
    assert ids["read-amplification"].evidence["bytes_read_inside_writes"] == 4 * 2**20
    assert "for 1.05 MB of MPI-IO, beside 4.19 MB read inside writes: 3.00 times" in ids["read-amplification"].text
    assert ids["write-amplification"].evidence["amplification"] == 4.0
    assert ids["data-sieving"].evidence["read_bytes"] == 4 * 2**20
    assert ids["data-sieving"].severity == "warning"


@pytest.mark.parametrize("times", [8, 1])
def test_what_calls_write_again_costs_its_share_of_their_time_which_is_no_overhead(written, times):
    """A library that packs a block anew for each part of it that is written works as often as it writes it."""
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for start in range(0, 16 * 20_000, 20_000):
        written.operate(0, upper, WRITE, start, start + 10_000, 2**20)
        written.operate(0, lower, WRITE, start + 9_000, start + 9_300, times * 2**20)
    ids = written.findings()
    overhead = ids["layer-overhead"]
    # The calls take 160 ms, and nothing is written below in 155.2 of them.
    assert overhead.cost_s == pytest.approx(0.1552 / times)
    assert overhead.evidence["idle_below_s"] == pytest.approx(0.1552)
    assert ("written again" in overhead.text) is ("write-amplification" in ids) is (times > 1)
    if times > 1:
        again = ids["write-amplification"]
        assert again.cost_s == pytest.approx(0.16 * 7 / 8)
        assert again.gain_s[0] < again.gain_s[1] == pytest.approx(again.cost_s)


def hdf5_over_posix(written, paradigm=IoParadigmClass.SERIAL):
    """Return handles of one file in HDF5, and below it in POSIX."""
    file, kinds = written.file("/s/a"), (paradigm, IoParadigmFlag.NONE, {})
    upper = written.handle(file, written.trace.definitions.io_paradigm("HDF5", "HDF5", *kinds))
    return upper, written.handle(file, written.posix, upper)


@pytest.mark.parametrize("mode", [READ, WRITE])
@pytest.mark.parametrize(
    ("below", "lasts", "told"), [(2**19, 10_000, True), (2**20, 10_000, False), (2**19, 450, False)]
)
def test_a_library_that_takes_time_to_make_fewer_bytes_compresses(written, mode, below, lasts, told):
    """Half of the bytes arrive below: a filter, unless it is as fast as copying them out of a buffer."""
    upper, lower = hdf5_over_posix(written)
    for start in range(0, 16 * 20_000, 20_000):
        written.operate(0, upper, mode, start, start + lasts, 2**20)
        written.operate(0, lower, mode, start, start + 300, below)
    ids = written.findings()
    assert ("compression" in ids) is told
    if not told:
        return
    found = ids["compression"]
    assert found.cost_s == pytest.approx(16 * 0.0097)
    assert found.gain_s == (0.0, found.cost_s)
    assert found.evidence["lower_share"] == 0.5
    done = "writes 16.8 MB as" if mode == WRITE else "reads 16.8 MB from"
    assert f"HDF5 {done} 8.39 MB of POSIX; for 155 ms of the 160 ms that it takes (97 %) nothing moves" in found.text
    # It explains why nothing moves.
    assert "layer-overhead" not in ids


@pytest.mark.parametrize("lasts", [10_000, 700])
def test_parts_of_compressed_chunks_are_compressed_again_and_again(written, lasts):
    """Each write reads and writes again as much as it asks for, and takes long: no bytes are hidden by that."""
    upper, lower = hdf5_over_posix(written)
    for start in range(0, 16 * 20_000, 20_000):
        written.operate(0, upper, WRITE, start, start + lasts, 2**20)
        written.operate(0, lower, READ, start, start + 150, 2**20)
        written.operate(0, lower, WRITE, start + 150, start + 300, 2**20)
    ids = written.findings()
    assert ("compression" in ids) is (lasts == 10_000)
    if lasts == 10_000:
        found = ids["compression"]
        assert found.gain_s == pytest.approx((found.cost_s / 2, found.cost_s))
        assert "as writes change parts of chunks" in found.text
        assert "H5Pset_chunk_cache" in found.advice
        assert "layer-overhead" not in ids


def test_a_call_that_fills_variables_is_no_matter_of_its_own(found):
    """Most of what metadata takes is ``nc_enddef``, by fill values; without them the program's writes may take it."""
    assert "metadata-time" not in found("ncckpt4_indep")
    assert "nc_enddef" not in found("ncckpt4_perstep")["metadata-time"].text
    for name in ("ncckpt4_indep", "ncckpt4_perstep"):
        fill = found(name)["fill-values"]
        assert fill.gain_s == (0.0, fill.cost_s)


@pytest.mark.parametrize(("mode", "done"), [(WRITE, "writes are compressed"), (READ, "reads are decompressed")])
def test_the_layer_that_compresses_is_named_and_none_above_it(written, mode, done):
    """netCDF hands all bytes on to HDF5, of which half arrive in POSIX, and looks at the head of the file itself."""
    file, below = written.file("/s/a"), None
    kinds = (IoParadigmClass.SERIAL, IoParadigmFlag.NONE, {})
    stack = [written.trace.definitions.io_paradigm(name, name, *kinds) for name in ("netCDF", "HDF5")]
    handles = []
    for layer in (*stack, written.posix):
        below = written.handle(file, layer, below) if below else written.handle(file, layer)
        handles.append(below)
    streams = written.trace.definitions.io_paradigm("ISOC", "ISO C", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
    head = written.handle(file, streams, handles[0])
    for start in range(0, 16 * 20_000, 20_000):
        for depth, (handle, size) in enumerate(zip(handles, (2**20, 2**20, 2**19), strict=True)):
            written.operate(0, handle, mode, start + depth, start + (10_000, 5_000, 300)[depth], size)
        written.operate(0, head, mode, start + 6_000, start + 6_001, 64)
    written.findings()
    trace = open_trace(written.folder)
    found = find(trace)
    assert [one.layer for one in found if one.id == "compression"] == ["HDF5"]
    (compression,) = (one for one in found if one.id == "compression")
    assert f"{done} in the library" in headline_of(trace, [compression]).text


@pytest.mark.parametrize("took", [300, 9_000])
def test_reads_of_parts_of_chunks_are_told_from_those_that_read_too_much(written, took):
    """A library reads 64 times as much as it is asked for, and works on it, or waits for it."""
    upper, lower = hdf5_over_posix(written, IoParadigmClass.PARALLEL)
    for start in range(0, 16 * 20_000, 20_000):
        written.operate(0, upper, READ, start, start + 10_000, 2**14)
        written.operate(0, lower, READ, start, start + took, 2**20)
    found = written.findings()["read-amplification"]
    assert ("; to read that takes 4.72 ms at most, the calls 158 ms" in found.text) is (took == 300)
    assert ("chunks that are read and unpacked whole" in found.evidence.get("in_short", "")) is (took == 300)


def test_a_look_at_the_head_of_a_file_through_another_layer_is_no_compression(written):
    """All bytes arrive in POSIX; those few that ISO C reads say what kind of file it is."""
    file = written.file("/s/a")
    library = written.trace.definitions.io_paradigm("HDF5", "HDF5", IoParadigmClass.SERIAL, IoParadigmFlag.NONE, {})
    upper = written.handle(file, library)
    streams = written.trace.definitions.io_paradigm("ISOC", "ISO C", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
    lower, head = (written.handle(file, layer, upper) for layer in (written.posix, streams))
    for start in range(0, 16 * 20_000, 20_000):
        written.operate(0, upper, READ, start, start + 10_000, 2**20)
        written.operate(0, lower, READ, start, start + 300, 2**20)
        written.operate(0, head, READ, start + 400, start + 410, 64)
    assert "compression" not in written.findings()


@pytest.mark.parametrize(("size", "told"), [(65_535, False), (65_536, True)])
def test_a_library_that_reads_less_than_64_kib_inside_writes_reads_its_header(written, size, told):
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    written.operate(0, upper, WRITE, 0, 100, 2**20)
    written.operate(0, lower, READ, 10, 20, size)
    written.operate(0, lower, WRITE, 30, 40, 2**20)
    assert ("data-sieving" in written.findings()) is told


@pytest.mark.parametrize(("lasts", "told"), [(3_000, True), (40, False)])
def test_calls_of_a_layer_that_moves_nothing_take_long_too(written, lasts, told):
    """Files are opened by POSIX, and all bytes moved by the layer above, which the recorder knows alone."""
    upper = written.handle(written.file("/s/a"), written.mpi)
    for step in range(10):
        start = 10_000 * step
        lower = written.handle(written.file(f"/s/b{step}"), written.posix)
        written.call(0, "open", start, start + lasts)
        written.create(0, lower, start + 5)
        written.operate(0, upper, WRITE, start + 5_000, start + 6_000, 2**20)
    found = written.findings()
    assert ("metadata-time" in found) is told
    if told:
        one = found["metadata-time"]
        assert one.layer == "POSIX"
        assert one.cost_s == pytest.approx(0.03)
        assert "POSIX spends 30 ms in 10 opens, and transfers nothing; longest on rank 0" in one.text


def test_files_that_a_layer_opens_and_never_moves_are_no_amplification(written):
    """A stream of ISO C, or a handle of MPI, is opened and its descriptor written: nothing was asked for there."""
    asked, past = written.file("/s/a"), written.file("/s/b")
    upper = [written.handle(one, written.mpi) for one in (asked, past)]
    lower = [written.handle(one, written.posix, above) for one, above in zip((asked, past), upper, strict=True)]
    written.operate(0, upper[0], WRITE, 0, 100, 2**20)
    written.operate(0, lower[0], WRITE, 10, 20, 2**20)
    written.operate(0, lower[1], WRITE, 200, 220, 64 * 2**20)
    assert "write-amplification" not in written.findings()


def test_a_layer_is_idle_only_where_nothing_moves_in_the_layer_below_that_moves_most(written):
    """A header is read by ISO C, all else by POSIX: while that moves, the layer is not idle."""
    definitions = written.trace.definitions
    top = definitions.io_paradigm("netCDF", "netCDF", IoParadigmClass.SERIAL, IoParadigmFlag.NONE, {})
    file = written.file("/s/a")
    upper = written.handle(file, top)
    header, lower = written.handle(file, written.mpi, upper), written.handle(file, written.posix, upper)
    written.operate(0, header, READ, 0, 10, 512)
    for step in range(20):
        written.operate(0, upper, READ, 20_000 * step, 20_000 * step + 15_000, 2**20)
        written.operate(0, lower, READ, 20_000 * step + 100, 20_000 * step + 14_900, 2**20)
    assert "layer-overhead" not in written.findings()


def test_files_opened_by_all_and_used_by_one(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    shared = written.handle(written.file("/s/b"), written.posix)
    # One writes it, and all read it through another layer by themselves.
    again = written.file("/s/c")
    below, above = written.handle(again, written.posix), written.handle(again, written.mpi)
    for rank in range(4):
        for one in (handle, shared, below):
            written.create(rank, one, 10)
        written.operate(rank, shared, WRITE, 20, 30, 100)
        written.operate(rank, above, READ, 60, 70, 100)
    written.operate(2, handle, WRITE, 40, 50, 100)
    written.operate(2, below, WRITE, 51, 55, 100)
    evidence = written.findings()["opened-not-used"].evidence
    assert (evidence["files"], evidence["openers"], evidence["ranks"]) == (["/s/a"], 4, [2])


def test_waiting_and_overhead(written):
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for step in range(4):
        start = 200_000 * step
        for rank in range(4):
            written.operate(rank, upper, WRITE, start, start + 100_000, 2**20, COLLECTIVE)
        written.operate(3, lower, WRITE, start + 10_000, start + 50_000, 4 * 2**20)
    ids = written.findings()
    # Three ranks wait 40 ms in each of four calls, of 16 times 100 ms in all.
    assert ids["waiting-ranks"].evidence["waiting_s"] == pytest.approx(0.48)
    assert ids["waiting-ranks"].evidence["share"] == pytest.approx(0.3)
    # That nothing moves below for most of the time is told with what explains it, and not again.
    assert "layer-overhead" not in ids
    assert ids["funnelled-collective"].evidence["idle_below_s"] == pytest.approx(0.24)
    assert ids["funnelled-collective"].evidence["busy_s"] == pytest.approx(0.4)
    assert ids["funnelled-collective"].evidence["ranks"] == [3]
    assert ids["funnelled-collective"].evidence["nodes"] == ["n1"]


def test_local_files(written):
    handle = written.handle(written.file("/tmp/scratch"), written.posix)
    written.operate(0, handle, WRITE, 10, 20, 2**21)
    evidence = written.findings()["stray-files"].evidence
    assert (evidence["node_local"], evidence["bytes"], evidence["files"]) == (True, 2**21, ["/tmp/scratch"])


@pytest.mark.parametrize("slow", [(), (2,), (0, 1, 3), (0, 1, 2, 3)])
def test_slow_ranks_are_those_that_take_longer_for_as_much(written, slow):
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        # All move the same, slow ones in 25 times the time; what is slow everywhere is slow for no rank.
        written.operate(rank, handle, WRITE, 0, (250_000 if rank in slow else 10_000) + 100 * rank, 2**20)
    ids = written.findings()
    assert ("slow-ranks" in ids) is (0 < len(slow) < 4)
    if 0 < len(slow) < 4:
        one = ids["slow-ranks"]
        assert one.evidence["slow_ranks"] == list(slow)
        assert one.cost_s == pytest.approx(0.24, abs=0.001)


@pytest.mark.parametrize(("pieces", "told"), [(1, False), (2, False), (16, True)])
def test_slow_ranks_that_ask_for_less_at_a_time_are_told_so(written, pieces, told):
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        count, took = (pieces, 240_000) if rank == 1 else (1, 10_000)
        for place in range(count):
            begin = took // count * place
            written.operate(rank, handle, WRITE, begin, begin + took // count - 1, 2**20 // count)
    one = written.findings()["slow-ranks"]
    assert ("by 65.5 kB at a time on average, the others by 1.05 MB" in one.text) is told
    assert one.evidence["request_bytes"] == 2**20 / pieces
    assert one.evidence["others_request_bytes"] == 2**20


@pytest.mark.parametrize("waits", [True, False])
def test_who_alone_reads_another_file_is_not_slow_but_others_may_wait_for_it(written, waits):
    """All read a file of their own; rank 0 then reads an index in 300 ms, for a broadcast of which the others wait."""
    for rank in range(4):
        own = written.handle(written.file(f"/s/restart.{rank}"), written.posix)
        written.call(rank, "read", 0, 10_000)
        written.operate(rank, own, READ, 1, 10_000 + 10 * rank, 2**20)
        written.call(rank, "MPI_Bcast", 310_002 if rank == 0 else 10_100, 310_010 if rank == 0 or waits else 10_101)
    index = written.handle(written.file("/s/index"), written.posix)
    for place in range(100):
        begin = 10_100 + 3000 * place
        written.call(0, "read", begin, begin + 2999)
        written.operate(0, index, READ, begin, begin + 2999, 5000)
    ids = written.findings()
    assert "slow-ranks" not in ids
    assert ("serial-io" in ids) is waits
    if waits:
        one = ids["serial-io"]
        assert one.text.startswith(
            "rank 0 alone does the program's POSIX reads of index, 500 kB by 100 of them in 300 ms"
        )
        assert "wait for it in MPI for up to 300 ms" in one.text
        assert (one.files, one.cost_s) == (("/s/index",), pytest.approx(0.75 * 0.3, rel=0.01))


@pytest.mark.parametrize("index", [300_000, 100_000])
def test_who_takes_no_longer_on_files_of_its_own_than_others_on_theirs_does_nothing_alone(written, index):
    """Rank 0 reads an index, for which others wait that have read other files for 80 ms."""
    for rank in range(4):
        own = written.handle(written.file("/s/index" if rank == 0 else f"/s/mesh.{rank}"), written.posix)
        last = index if rank == 0 else 80_000
        written.call(rank, "read", 0, last)
        written.operate(rank, own, READ, 1, last - 1, 2**20)
        written.call(rank, "MPI_Bcast", last + 10, index + 20)
    assert ("serial-io" in written.findings()) is (index > 2 * 80_000)


def test_who_writes_for_the_others_is_not_slow(written):
    """Of a collective call the aggregator comes back last, when the others have long gone."""
    upper = written.handle(written.file("/s/a"), written.mpi)
    for rank in range(4):
        written.operate(rank, upper, WRITE, 0, 10_000 + 240_000 * (rank == 0), 2**22, IoOperationFlag.COLLECTIVE)
    assert "slow-ranks" not in written.findings()


def test_ranks_that_do_more_are_not_slow(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        written.operate(rank, handle, WRITE, 0, 10_000 * 10**rank // 100, 2**20 * 10**rank // 100)
    assert "slow-ranks" not in written.findings()


@pytest.mark.parametrize(("empty", "small"), [(300, False), (60, True)])
def test_requests_for_nothing_are_not_small_ones(written, empty, small):
    """As of ranks that take part in a collective call without bytes; beside few of them the others are told."""
    handle = written.handle(written.file("/s/a"), written.posix)
    for number in range(empty + 200):
        written.operate(number % 4, handle, WRITE, 20 * number, 20 * number + 10, 0 if number < empty else 4096)
    assert ("small-requests" in written.findings()) is small


def test_small_requests_that_take_next_to_nothing_of_the_run_are_no_warning(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for number in range(120):
        written.operate(0, handle, WRITE, 20_000 * number, 20_000 * number + 100, 4096)
    assert written.findings()["small-requests"].severity == "info"


@pytest.mark.parametrize(("count", "median"), [(399, 1200), (400, 1200), (401, 1201)])
def test_the_median_of_requests_is_the_lower_one_in_the_middle(written, count, median):
    handle = written.handle(written.file("/s/a"), written.posix)
    sizes = np.random.default_rng(0).permutation(np.arange(count)) + 1001
    for number, size in enumerate(sizes.tolist()):
        written.operate(0, handle, READ, 20 * number, 20 * number + 10, size)
    assert written.findings()["small-requests"].evidence["median_request"] == median


def test_the_median_of_requests_is_that_of_those_that_ask_for_bytes(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for number in range(400):
        written.operate(0, handle, READ, 20 * number, 20 * number + 10, 0 if number % 2 else 380)
    one = written.findings()["small-requests"]
    assert (one.evidence["operations"], one.evidence["small_operations"], one.evidence["median_request"]) == (
        200,
    ) * 2 + (380,)
    assert "200 POSIX reads that ask for bytes" in one.text


def test_ranks_with_another_task_are_not_slow(written):
    """Two write all, the others a little each in the same time, as in a collective call with few aggregators."""
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        written.operate(rank, handle, WRITE, 0, 200_000, 2**24 if rank < 2 else 2**8)
    assert "slow-ranks" not in written.findings()


@pytest.mark.parametrize(("status", "told"), [("SYNC", True), ("DATA_SYNC", True), ("APPEND", False)])
def test_writes_that_wait_for_the_storage(written, status, told):
    waits, plain = (written.handle(written.file(f"/s/{name}"), written.posix) for name in "ab")
    written.create(0, plain, 1)
    arguments = (waits, IoAccessMode.READ_WRITE, IoCreationFlag.CREATE, getattr(IoStatusFlag, status))
    written.events.append((2, 0, 0, "io_create_handle", arguments))
    for place in range(30):
        handle = waits if place < 20 else plain
        written.operate(0, handle, WRITE, 1000 * place + 10, 1000 * place + 510, 2**17)
    ids = written.findings()
    assert ("synchronous-writes" in ids) is told
    if told:
        one = ids["synchronous-writes"]
        assert one.text.startswith("20 of 30 POSIX writes wait for the storage each, 131 kB at a time on average")
        assert (one.severity, one.cost_s, one.files) == ("critical", pytest.approx(0.01), ("/s/a",))
        # All writes are as fast here: those that do not wait tell of no better rate.
        assert one.gain_s == pytest.approx((0, 0.01), abs=1e-9)


def test_who_opens_a_file_so_that_its_writes_wait_is_the_one_who_waits(written):
    """Ranks share a handle's definition, and each opens it in its own way; small writes of the others are fast."""
    log = written.handle(written.file("/s/log"), written.posix)
    for rank in range(4):
        status = IoStatusFlag.SYNC if rank == 2 else IoStatusFlag.APPEND
        arguments = (log, IoAccessMode.WRITE_ONLY, IoCreationFlag.CREATE, status)
        written.events.append((2, 0, rank, "io_create_handle", arguments))
        for place in range(40):
            begin = 1000 * place + 10
            written.operate(rank, log, WRITE, begin, begin + (500 if rank == 2 else 5), 62)
    found = find(trace := written.closed())
    one = next(one for one in found if one.id == "synchronous-writes")
    assert one.text.startswith("40 of 160 POSIX writes wait for the storage each")
    assert one.ranks == (2,)
    assert one.cost_s == pytest.approx(0.02)
    assert headline_of(trace, found).finding == "synchronous-writes"
    assert "small-requests" not in {one.id for one in found}


@pytest.mark.parametrize(
    ("plain_us", "fast", "least"), [(100, 10, 0.008), (500, 10, 0.0), (100, 4, 0.008), (100, 2, 0.0)]
)
def test_writes_that_need_not_wait_would_be_as_fast_as_those_that_do_not(written, plain_us, fast, least):
    """20 writes of 500 us each wait, half as many of the same size do not; what a tenth of the bytes take counts."""
    waits, plain = (written.handle(written.file(f"/s/{name}"), written.posix) for name in "ab")
    written.create(0, plain, 1)
    arguments = (waits, IoAccessMode.READ_WRITE, IoCreationFlag.CREATE, IoStatusFlag.SYNC)
    written.events.append((2, 0, 0, "io_create_handle", arguments))
    for place in range(30):
        begin = 1000 * place + 10
        took = plain_us if 20 <= place < 20 + fast else 500
        written.operate(0, waits if place < 20 else plain, WRITE, begin, begin + took, 2**17)
    one = written.findings()["synchronous-writes"]
    assert one.gain_s[1] == pytest.approx(one.cost_s) == pytest.approx(0.01)
    assert one.gain_s[0] == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize(("size", "told"), [(2**15, True), (2**17, False)])
def test_half_as_many_flushes_take_half_as_long_where_each_puts_out_little(written, size, told):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(20):
        start = 100_000 * place
        written.operate(0, handle, WRITE, start, start + 5_000, size)
        written.operate(0, handle, IoOperationMode.FLUSH, start + 5_000, start + 14_000, 0)
    one = written.findings()["flush-dominates"]
    # What more put out must be put out some time.
    assert one.gain_s == pytest.approx((0.09 if told else 0.0, 0.18))


@pytest.mark.parametrize(("files", "transfers", "told"), [(100, 2, True), (99, 2, False), (100, 9, False)])
def test_many_small_files_cost_what_opening_and_moving_them_takes(written, files, transfers, told):
    for place in range(files):
        handle, begin = written.handle(written.file(f"/s/{place}"), written.posix), 2_000 * place + 10
        written.call(0, "open64", begin, begin + 400)
        written.create(0, handle, begin + 390)
        for number in range(transfers):
            start = begin + 500 + 100 * number
            written.operate(0, handle, READ, start, start + 100, 2**12)
    ids = written.findings()
    assert ("small-files" in ids) is told
    if told:
        one = ids["small-files"]
        assert (one.evidence["small_files"], one.evidence["median_file"]) == (100, 2**13)
        assert one.cost_s == pytest.approx(0.06)
        assert one.gain_s == pytest.approx((0.02, 0.06))


def test_writes_that_wait_for_the_storage_are_no_cost_of_small_files(written):
    for place in range(100):
        handle, begin = written.handle(written.file(f"/s/{place}"), written.posix), 2_000 * place + 10
        written.call(0, "open64", begin, begin + 400)
        arguments = (handle, IoAccessMode.WRITE_ONLY, IoCreationFlag.CREATE, IoStatusFlag.SYNC)
        written.events.append((begin + 390, 0, 0, "io_create_handle", arguments))
        written.operate(0, handle, WRITE, begin + 500, begin + 1500, 2**12)
    ids = written.findings()
    assert (ids["small-files"].cost_s, ids["synchronous-writes"].cost_s) == pytest.approx((0.04, 0.1))


def test_small_files_are_most_of_all_files_and_not_of_those_used_little(written):
    for place in range(300):
        handle, begin = written.handle(written.file(f"/s/{place}"), written.posix), 2_000 * place + 10
        written.call(0, "open64", begin, begin + 400)
        written.create(0, handle, begin + 390)
        for number in range(2 if place < 120 else 10):
            start = begin + 500 + 100 * number
            written.operate(0, handle, READ, start, start + 100, 2**12)
    assert "small-files" not in written.findings()


def test_what_a_close_writes_is_saved_by_no_fewer_closes(written):
    """A library keeps what is written until its file is closed."""
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for place in range(20):
        written.operate(0, upper, WRITE, 1_000 * place, 1_000 * place + 50, 2**20)
    written.call(0, "MPI_File_close", 50_000, 150_000)
    written.destroy(0, upper, 149_000)
    written.call(0, "pwrite64", 59_000, 141_000)
    written.operate(0, lower, WRITE, 60_000, 140_000, 20 * 2**20)
    one = written.findings()["metadata-time"]
    assert (one.evidence["longest"], one.evidence["reason"]) == ("closes", ", as they write what was kept until then")
    assert one.gain_s == (0.0, 0.0)


@pytest.mark.parametrize("flush_us", [200_000, 0])
def test_flushes_to_one_device_take_as_long_whoever_does_them(written_on_one_node, flush_us):
    written = written_on_one_node
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        written.operate(rank, handle, WRITE, 0, 1_000 if rank else 40_000, 2**20 if rank else 2**24)
    if flush_us:
        written.operate(0, handle, IoOperationMode.FLUSH, 40_000, 40_000 + flush_us, 0)
    one = written.findings()["imbalance"]
    longest, mean = (40_000 + flush_us) / 1e6, (43_000 + flush_us) / 4e6
    assert one.cost_s == pytest.approx(longest - mean)
    assert one.gain_s[0] == pytest.approx(max(0.0, longest - mean - flush_us / 1e6) / 4, abs=1e-9)


def test_files_that_are_one_need_one_open(written):
    """Each rank opens 20 files once: on each that need be, but not with all in one file."""
    for place in range(20):
        handle = written.handle(written.file(f"/s/{place}"), written.posix)
        for rank in range(2):
            begin = 20_000 * place + 10
            written.call(rank, "open64", begin, begin + 9_000)
            written.create(rank, handle, begin + 8_995)
            written.operate(rank, handle, WRITE, begin + 9_500, begin + 10_000, 2**16)
    one = written.findings()["metadata-time"]
    assert one.cost_s == pytest.approx(0.18)
    assert one.gain_s == pytest.approx((0.0, 0.171))
    assert (one.evidence["file_count"], one.ranks) == (20, (0, 1))


@pytest.mark.parametrize("flushing", [900, 100, 52])
def test_flushes_that_take_longer_than_writes_or_a_tenth_of_the_io(written, flushing):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(20):
        start = 2_000_000 + 100_000 * place
        written.operate(0, handle, WRITE, start, start + 5_000, 2**20)
        written.operate(0, handle, IoOperationMode.FLUSH, start + 5_000, start + 5_000 + 10 * flushing, 0)
    ids = written.findings()
    assert ("flush-dominates" in ids) is (flushing >= 100)
    if flushing >= 100:
        one = ids["flush-dominates"]
        assert (one.evidence["flushes"], one.severity) == (20, "warning" if flushing == 900 else "info")
        assert (one.evidence["flush_s"], one.evidence["write_s"]) == pytest.approx((flushing * 2e-4, 0.1))
        assert one.cost_s == pytest.approx(flushing * 2e-4)


@pytest.mark.parametrize(("run", "severity"), [(30_000, "critical"), (100_000, "warning"), (1_000_000, "info")])
def test_severity_follows_the_share_of_the_run(written, run, severity):
    handle = written.handle(written.file("/s/a"), written.posix)
    written.operate(0, handle, WRITE, 1000, 11_000, 2**21)
    for rank in range(4):
        written.operate(rank, handle, WRITE, run - 10, run, 0)
    one = written.findings()["serial-io"]
    assert (one.severity, one.cost_s) == (severity, pytest.approx(0.0075, rel=0.01))


@pytest.mark.parametrize("reader", [None, 0, 1])
def test_what_one_rank_writes_for_others_to_read_is_handed_on(written, reader):
    for step in range(4):
        handle = written.handle(written.file(f"/s/frame{step}"), written.posix)
        written.operate(0, handle, WRITE, 100_000 * step, 100_000 * step + 10_000, 2**20)
        if reader is not None:
            written.operate(reader, handle, READ, 100_000 * step + 20_000, 100_000 * step + 30_000, 2**20)
    for rank in range(4):
        written.operate(rank, written.handle(written.file("/s/log"), written.posix), WRITE, 500_000, 500_010, 0)
    assert ("serial-io" in written.findings()) is (reader != 1)


def test_what_is_small_in_all_is_no_warning(written):
    data, settings = (written.handle(written.file(name), written.posix) for name in ("/s/data", "/s/run.cfg"))
    written.operate(0, data, WRITE, 0, 1_000_000, 2**30)
    for place in range(200):
        written.operate(0, settings, READ, 2_000_000 + 10 * place, 2_000_005 + 10 * place, 18)
    one = written.findings()["small-requests"]
    assert (one.severity, one.evidence["small_operations"]) == ("info", 200)
    assert one.cost_s == pytest.approx(0.001)


def test_system_files_outside_of_calls_are_no_finding(written):
    start = written.handle(written.file("/proc/cpuinfo"), written.posix)
    for place in range(500):
        written.operate(0, start, READ, 10 * place, 10 * place + 5, 80)
    assert "stray-files" not in written.findings()


@pytest.fixture(scope="module")
def monc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("monc") / "archive"
    script = Path(__file__).parents[2] / "archives" / "monc.py"
    subprocess.run([sys.executable, script, folder], check=True, capture_output=True)
    return folder


def test_the_case_of_the_multi_layer_paper(monc):
    trace = open_trace(monc)
    assert (trace.ranks, trace.definitions.node_count) == (112, 8)
    assert tuple(trace.layers) == ("netCDF", "MPI-IO", "ISOC", "POSIX")
    ids = {one.id: one for one in reversed(find(trace))}
    funnel = ids["funnelled-collective"].evidence
    assert (funnel["participants"], funnel["ranks"], funnel["nodes"]) == (8, [0], ["nid01713"])
    assert (funnel["calls"], funnel["bytes"]) == (24, 24 * 8 * 262_144)
    assert ids["waiting-ranks"].evidence["transferring_ranks"] == [0]
    # Each of 24 calls of 8 servers reads 30 lines of 80 bytes.
    stray = ids["stray-files"].evidence
    assert (stray["operations"], stray["bytes"]) == (24 * 8 * 30, 24 * 8 * 30 * 80)
    assert (stray["inside_operations"], stray["inside_layers"]) == (24 * 8 * 30, {"MPI-IO": 24 * 8 * 30})
    assert stray["ranks"] == list(range(0, 112, 14))
    assert trace.set_aside.operations == 24 * 8 * 30
    assert trace.set_aside.files == 8


def test_system_calls_within_mpi_by_node_as_in_its_figure_9(monc):
    trace = open_trace(monc, files="all")
    calls = {}
    for row in trace.breakdown("node").to_dict():
        if row["layer"] in ("ISOC", "POSIX"):
            inside = row["inside_operations"] + row["inside_metadata"]
            calls[row["node"]] = calls.get(row["node"], 0) + inside
    # A maps file is opened, read in 30 pieces and closed in each of 24 calls; rank 0 writes 4 pieces in each.
    expected = {f"nid{1713 + row:05d}": 24 * 32 for row in range(8)}
    expected["nid01713"] += 24 * 4
    assert calls == expected
    assert max(calls, key=calls.get) == "nid01713"
    assert np.unique(trace.operations.process[trace.layers["POSIX"].rows]).tolist() == [0]


def test_opens_of_many_files_are_placed_too(written):
    """Of 300 files none takes a hundredth of the time."""
    for place in range(300):
        handle = written.handle(written.file(f"/s/small.{place}"), written.posix)
        begin = 1000 * place
        written.call(0, "open", begin, begin + 400)
        written.create(0, handle, begin + 10)
        written.operate(0, handle, WRITE, begin + 500, begin + 510, 2**16)
    one = written.findings()["metadata-time"]
    assert (one.evidence["file_count"], one.time_range) == (300, pytest.approx((0.0, 0.2994)))


def test_times_in_texts_have_a_unit_that_suits_them(found):
    assert "ranks wait 34.6 ms in all" in found("ckpt4")["waiting-ranks"].text


def test_counts_in_texts_have_separators_of_thousands(fixtures):
    texts = [finding.text for finding in find(open_trace(fixtures / "ior384"))]
    assert any("by 30,720 independent MPI-IO operations" in text for text in texts)


def numbers_in(value, key):
    """Give the keys of all numbers in evidence; numbers in lists and in counts by name go by the key above them."""
    if isinstance(value, dict):
        for item in value.values():
            yield from numbers_in(item, key)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from numbers_in(item, key)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key


@pytest.mark.parametrize("name", ["ncckpt4", "ncckpt4_romio", "aperiodic4", "broken_race_corruption", "ckpt4_jitter"])
def test_every_number_has_a_unit_and_no_entry_comes_twice(found, name):
    for one in found(name).values():
        for key, value in one.to_dict()["evidence"].items():
            assert set(numbers_in(value, key)) <= evidence_units([one]).keys()
        files = one.evidence.get("files", [])
        if isinstance(files, list):
            assert all(files)
            assert len(files) == len(set(files))


def test_where_opens_take_their_time_is_told_of_many_files_too(written):
    """None of 200 files has a hundredth of the time of all."""
    for number in range(200):
        handle = written.handle(written.file(f"/s/{number}"), written.posix)
        written.call(0, "open", 5000 * number, 5000 * number + 2000)
        written.create(0, handle, 5000 * number + 1990)
        written.operate(0, handle, WRITE, 5000 * number + 3000, 5000 * number + 3100, 2**20)
    assert written.findings()["metadata-time"].evidence["file_count"] == 200


@pytest.mark.parametrize(
    ("name", "finding", "function", "caller"),
    [
        ("ckpt4_compiler", "funnelled-collective", "MPI_File_write_at_all", "main"),
        ("ncckpt4", "flush-dominates", "nc_sync", None),
    ],
)
def test_a_finding_names_the_call_that_takes_its_time_and_who_made_it(name, finding, function, caller, fixtures):
    one = next(one for one in find(open_trace(fixtures / name)) if one.id == finding)
    assert one.evidence["function"] == function
    assert f"{function} in {caller}" in one.text if caller else f"; {function})" in one.text
    assert one.evidence.get("caller", "").partition(" (")[0] == (caller or "")


def test_a_range_that_is_no_estimate_is_a_quarter_to_the_most_and_says_so():
    assert Gain((0.3, 2.0), "by twice as many").of(1.0) == ((0.3, 1.0), "by twice as many")
    (least, most), reason = Gain((0.03, 2.0), "by twice as many").of(1.9)
    assert (least, most) == (0.475, 1.9)
    assert Gain((0.0, 2.0), "nothing is known").of(1.0).gain_s == (0.0, 1.0)
    assert reason == "by twice as many; from a quarter of that on, as most runs did"


def test_files_that_were_not_written_are_not_read_back(written):
    mine, other = (written.handle(written.file(name), written.posix) for name in ("/s/a", "/s/b"))
    for place in range(8):
        written.operate(0, mine, WRITE, 1_000 * place, 1_000 * place + 500, 2**20, offset=2**20 * place)
        written.operate(
            0, other, READ, 50_000 + 1_000 * place, 50_000 + 1_000 * place + 900, 2**20, offset=2**20 * place
        )
        for again in range(2):
            begin = 100_000 + 1_000 * (2 * place + again)
            written.operate(0, mine, READ, begin, begin + 500, 2**20, offset=2**20 * place)
    one = written.findings()["read-back"]
    assert (one.files, one.evidence["file_count"]) == (("/s/a",), 1)
    # The reads of the other file cost nothing here.
    assert one.cost_s == pytest.approx(16 * 500e-6)


def test_what_saves_nothing_is_not_told_as_up_to_0_s(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    written.operate(0, handle, WRITE, 0, 1_000, 2**20)
    written.operate(0, handle, IoOperationMode.FLUSH, 2_000, 100_000, 0)
    one = written.findings()["flush-dominates"]
    assert one.gain_s == (0.0, 0.0)
    assert one.text.count("with nothing to save") == 1
    assert "up to 0 s" not in one.text
