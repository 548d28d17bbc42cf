"""What operations do one after the other: made archives with known counts, recorded ones against ``otf2-print``."""

import re
import subprocess
from collections import defaultdict

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.analysis.findings import find
from iostrata.layers.flow.access_pattern import Deed
from otf2.enums import (
    IoAccessMode,
    IoCreationFlag,
    IoOperationFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    IoSeekOption,
    IoStatusFlag,
)

READ, WRITE, FLUSH = IoOperationMode.READ, IoOperationMode.WRITE, IoOperationMode.FLUSH


@pytest.mark.parametrize("turning", [True, False])
def test_reading_and_writing_by_turns(written, turning):
    handle, log = (written.handle(written.file(f"/s/{name}"), written.posix) for name in ("a", "log"))
    for place in range(200):
        written.operate(0, log, WRITE, 10_000 * place + 6_000, 10_000 * place + 9_000, 2**4)
        mode = (READ if place % 2 else WRITE) if turning else (READ if place < 100 else WRITE)
        written.operate(0, handle, mode, 10_000 * place, 10_000 * place + 5_000, 2**16, offset=2**16 * place)
    ids = written.findings()
    assert ("alternating-access" in ids) is turning
    if turning:
        one = ids["alternating-access"]
        assert (one.evidence["turns"], one.evidence["operations"], one.evidence["ranks"]) == (199, 400, [0])
        # What is only written is none of them.
        assert one.evidence["files"] == ["/s/a"]
        assert one.cost_s == pytest.approx(199 * 0.005)


def test_turns_of_different_files_and_ranks_are_none(written):
    handles = [written.handle(written.file(f"/s/{name}"), written.posix) for name in "ab"]
    for place in range(400):
        mode = READ if place % 2 else WRITE
        written.operate(place // 2 % 4, handles[place % 2], mode, 1_000 * place, 1_000 * place + 500, 2**16)
    assert "alternating-access" not in written.findings()


@pytest.mark.parametrize("between", [0, 100, 2**20])
def test_flushes_with_nothing_to_put_out(written, between):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(20):
        start = 100_000 * place
        written.operate(1, handle, WRITE, start, start + 5_000, 2**20)
        written.operate(1, handle, FLUSH, start + 10_000, start + 30_000, 0)
        if between:
            written.operate(1, handle, WRITE, start + 30_000, start + 40_000, between)
        written.operate(1, handle, FLUSH, start + 50_000, start + 60_000, 0)
    ids = written.findings()
    assert ("metadata-sync" in ids) is (not between)
    if not between:
        one = ids["metadata-sync"]
        assert (one.evidence["empty_flushes"], one.evidence["flushes"], one.severity) == (20, 40, "warning")
        assert one.cost_s == pytest.approx(0.2)


def test_a_flush_of_a_folder_puts_out_the_names_of_its_files(written):
    folder, file = (written.handle(written.file(name), written.posix) for name in ("/s", "/s/a"))
    for place in range(20):
        start = 100_000 * place
        written.operate(1, file, WRITE, start, start + 5_000, 2**20)
        for number, handle in enumerate((file, folder)):
            written.operate(1, handle, FLUSH, start + 20_000 * number + 10_000, start + 20_000 * number + 30_000, 0)
    assert "metadata-sync" not in written.findings()


@pytest.mark.parametrize("put_out", [False, True])
def test_flushes_put_out_what_a_layer_above_wrote_and_did_not_flush_to_the_storage(written, put_out):
    """A library writes and hands on what it keeps, as ``nc_sync`` does; then the program calls ``fsync``."""
    file = written.file("/s/a")
    upper, own = written.handle(file, written.mpi), written.handle(file, written.posix)
    lower = written.handle(file, written.posix, upper)
    for place in range(20):
        start = 100_000 * place
        written.operate(1, upper, WRITE, start, start + 10_000, 2**20)
        written.operate(1, lower, WRITE, start + 2_000, start + 8_000, 2**20)
        written.operate(1, upper, FLUSH, start + 20_000, start + 40_000, 0)
        if put_out:
            written.operate(1, lower, FLUSH, start + 21_000, start + 39_000, 0)
        written.operate(1, own, FLUSH, start + 50_000, start + 80_000, 0)
    assert ("metadata-sync" in written.findings()) is put_out


def test_flushes_of_what_streams_wrote_are_not_without_a_write(written):
    file = written.file("/s/a")
    streams = written.trace.definitions.io_paradigm("ISOC", "ISOC", IoParadigmClass.SERIAL, IoParadigmFlag.NONE, {})
    above, own = written.handle(file, streams), written.handle(file, written.posix)
    for place in range(20):
        written.operate(1, above, WRITE, 100_000 * place, 100_000 * place + 10_000, 2**20)
        written.operate(1, own, FLUSH, 100_000 * place + 50_000, 100_000 * place + 80_000, 0)
    ids = written.findings()
    assert "metadata-sync" not in ids
    assert "20 POSIX flushes take a rank up to 600 ms, 20 ISOC writes 200 ms" in ids["flush-dominates"].text


def test_another_rank_that_wrote_nothing_has_nothing_to_flush(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(20):
        written.operate(0, handle, WRITE, 10_000 * place, 10_000 * place + 1_000, 2**20)
        for rank in range(4):
            written.operate(rank, handle, FLUSH, 10_000 * place + 2_000, 10_000 * place + 4_000, 0)
    assert written.findings()["metadata-sync"].evidence["ranks"] == [1, 2, 3]


@pytest.mark.parametrize(("shift", "long", "slower"), [(512, 30_000, 3.0), (512, 10_000, None), (0, 30_000, None)])
def test_requests_beside_the_blocks(written, shift, long, slower):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(200):
        on = place % 4 == 0
        offset = 2**16 * place + (0 if on else shift)
        took = 10_000 if on else long
        written.operate(0, handle, WRITE, 40_000 * place, 40_000 * place + took, 2**16, offset=offset)
    ids = written.findings()
    assert ("unaligned-requests" in ids) is (slower is not None)
    if slower is not None:
        one = ids["unaligned-requests"]
        assert (one.evidence["unaligned_operations"], one.evidence["operations"]) == (150, 200)
        assert one.evidence["slower"] == pytest.approx(slower)
        assert one.cost_s == pytest.approx(150 * (0.03 - 0.01))


def test_beside_the_blocks_without_others_to_compare_with_has_no_cost(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(200):
        written.operate(0, handle, READ, 1000 * place, 1000 * place + 500, 2**16, offset=2**16 * place + 100)
    one = written.findings()["unaligned-requests"]
    assert (one.cost_s, one.severity, one.evidence["slower"]) == (None, "info", None)


@pytest.mark.parametrize(("times", "collective"), [(90, False), (4, False), (90, True)])
def test_few_operations_that_take_most_of_the_time(written, times, collective):
    handle = written.handle(written.file("/s/a"), written.posix)
    flags = IoOperationFlag.COLLECTIVE if collective else IoOperationFlag.NONE
    for rank in range(4):
        for place in range(30):
            took = 10_000 * (times if place == 7 and rank < 2 else 1)
            written.operate(rank, handle, WRITE, 1_000_000 * place, 1_000_000 * place + took, 2**20, flags)
        # Small ones take long a byte, which is no news.
        for place in range(30):
            written.operate(rank, handle, WRITE, 1_000_000 * place + 990_000, 1_000_000 * place + 991_000, 64, flags)
    ids = written.findings()
    expected = times == 90 and not collective
    assert ("slow-operations" in ids) is expected
    if expected:
        one = ids["slow-operations"]
        assert (one.evidence["slow_operations"], one.evidence["ranks"]) == (2, [0, 1])
        assert one.evidence["time_range_s"] == pytest.approx([7.0, 7.9])
        # To half an octave.
        assert one.cost_s == pytest.approx(0.89, rel=0.05)


def test_slow_operations_are_placed_where_most_of_their_time_is(written):
    """Two transfers of 0.9 s at 7 s, and one of 0.1 s at 25 s, which takes ten times as long as usual, too."""
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        for place in range(30):
            times = 90 if place == 7 and rank < 2 else 12 if (place, rank) == (25, 3) else 1
            written.operate(
                rank, handle, WRITE, 1_000_000 * place, 1_000_000 * place + 10_000 * times, 2**20, IoOperationFlag.NONE
            )
    one = written.findings()["slow-operations"]
    assert (one.evidence["slow_operations"], one.evidence["ranks"]) == (3, [0, 1])
    assert one.evidence["time_range_s"] == pytest.approx([7.0, 7.9])
    assert "most of it on ranks 0 and 1 from 7 s to 7.9 s" in one.text


def test_how_few_of_the_slow_ones_lose_half_is_told_and_no_ranks_where_all_do(written):
    """One read in twelve of a file waits a little, and one of each rank for half a second."""
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        for place in range(600):
            took = 500_000 if place == 300 else 2_000 if place % 12 == 5 else 100
            start = 3_000 * place + (500_000 if place > 300 else 0)
            written.operate(rank, handle, READ, start, start + took, 2**20)
    text = written.findings()["slow-operations"].text
    assert "others of their size; half of the time lost is in 3 of them; most of it from 900 ms to 1.4 s" in text


@pytest.mark.parametrize("stalls", [True, False])
def test_few_of_equal_size_that_take_most_of_the_time_are_no_matter_of_the_size(written, stalls):
    """Four small writes of a rank take 2 s of 2.4, also as those that a library makes of them; or all take as long."""
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for rank in range(4):
        for place in range(400):
            start = 1_000_000 * (place // 100) + 4_000 * (place % 100)
            took = (500_000 if place % 100 == 99 else 1_000) if stalls else 3_900
            written.operate(rank, upper, WRITE, start, start + took, 4096, offset=4096 * place)
            written.operate(rank, lower, WRITE, start + 10, start + took - 10, 4096, offset=4096 * place)
    trace = written.closed()
    findings = find(trace)
    small = {one.layer: one for one in findings if one.id == "small-requests"}
    assert findings[0].id == ("slow-operations" if stalls else "small-requests")
    # What the lower layer does with them is not told again.
    assert list(small) == ["MPI-IO"]
    for one in small.values():
        assert one.cost_s == pytest.approx(0.4 if stalls else 1.56, abs=0.02)
        assert ("; 16 of them (1 %) take 2 s more than usual" in one.text) is stalls


def test_stalls_all_over_the_run_are_spared_by_fewer_calls_as_what_calls_do_around_them_is(written):
    """Every 30th of 2,000 small writes waits for a processor; each call takes .1 ms before and after its write."""
    handle = written.handle(written.file("/s/a"), written.mpi)
    for place in range(2000):
        start, took = 10_000 * place + 100, 9_000 if place % 30 == 29 else 100
        written.call(0, "MPI_File_write_at", start - 50, start + took + 50)
        written.operate(0, handle, WRITE, start, start + took, 512, offset=2048 * place)
    found = {one.id: one for one in find(written.closed())}
    assert "slow-operations" not in found
    one = found["small-requests"]
    assert one.cost_s == pytest.approx(66 * 9e-3 + 1934 * 1e-4 + 2000 * 1e-4, rel=0.01)
    assert one.gain_s == (0.0, one.cost_s)
    assert "; 66 of them (3.3 %) take 5" in one.text


@pytest.mark.parametrize("stalls", [True, False])
def test_requests_beside_the_blocks_are_no_cause_where_few_of_them_stall(written, stalls):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(400):
        start, beside = 100_000 * place, place % 4 != 0
        took = (90_000 if place % 40 == 1 else 1_000) if stalls else 3_000 if beside else 1_000
        written.operate(0, handle, WRITE, start, start + took, 2**16, offset=2**17 * place + 512 * beside)
    ids = written.findings()
    assert ("slow-operations" in ids, "unaligned-requests" in ids) == (stalls, not stalls)


def test_flushes_that_let_a_lower_layer_write_put_out_something(written):
    file = written.file("/s/a")
    hdf5 = written.trace.definitions.io_paradigm("HDF5", "HDF5", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE, {})
    upper = written.handle(file, hdf5)
    lower = written.handle(file, written.mpi, upper)
    bottom = written.handle(file, written.posix, lower)
    for place in range(20):
        start = 100_000 * place
        written.operate(1, upper, FLUSH, start, start + 50_000, 0)
        if place < 15:
            # A flush below is the upper one's, and what one layer writes for another is told once.
            within = lower
            if place % 2:
                written.operate(1, lower, FLUSH, start + 1_000, start + 40_000, 0)
                within = bottom
            written.operate(1, within, WRITE, start + 2_000, start + 30_000, 100)
            if within == lower:
                written.operate(1, bottom, WRITE, start + 3_000, start + 20_000, 100)
    ids = written.findings()
    assert ids["flush-dominates"].evidence["written_in_flushes"] == 1500
    assert "lower layers write 1.5 kB in these flushes" in ids["flush-dominates"].text
    assert "metadata-sync" not in ids or ids["metadata-sync"].evidence["empty_flushes"] < 10


@pytest.mark.parametrize(("moved", "saved"), [(2**20, 0.2), (2**21, 0.6), (0, 1.0)])
def test_what_flushes_move_for_the_writes_before_is_not_saved(written, moved, saved):
    """A library hands on what was written in its flushes, or all twice over."""
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for place in range(10):
        start = 100_000 * place
        written.operate(1, upper, WRITE, start, start + 10, 2**20)
        written.operate(1, upper, FLUSH, start + 1_000, start + 51_000, 0)
        if moved:
            written.operate(1, lower, WRITE, start + 2_000, start + 42_000, moved)
    one = written.findings()["flush-dominates"]
    assert one.gain_s == pytest.approx((0.0, 0.5 * saved))


@pytest.mark.parametrize("flushing", [1, 4])
def test_flushes_that_all_make_are_no_time_of_one_writer(written, flushing):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(4):
        start = 1_000_000 * place
        written.operate(0, handle, WRITE, start, start + 10_000, 2**20)
        for rank in range(flushing):
            written.operate(rank, handle, FLUSH, start + 20_000, start + 520_000, 0)
    one = written.findings()["serial-io"]
    assert one.cost_s == pytest.approx(0.75 * (2.04 if flushing == 1 else 0.04))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_one_rank_that_does_it_all(written, ranks):
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(ranks):
        written.operate(rank, handle, WRITE, 0, 1_000_000, 2**24)
    ids = written.findings()
    assert ("serial-io" in ids) is (ranks == 1)
    # Two of four, on one node of two: the ranks are what is to be told, not the node.
    assert ("imbalance" in ids) is (ranks == 2)
    if ranks == 1:
        assert "rank 0 alone does" in ids["serial-io"].text
        assert ids["serial-io"].cost_s == pytest.approx(0.75)
    if ranks == 2:
        assert "ranks 0 and 1 do all" in ids["imbalance"].text
        # They may be there for that.
        assert ids["imbalance"].severity == "info"


def test_no_warning_is_without_a_cost(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(1500):
        written.create(place % 4, handle, 10 + place)
    one = written.findings()["metadata-storm"]
    assert (one.severity, one.cost_s) == ("info", None)


def streams_of(anchor):
    """Return what POSIX operations do one after the other, counted from the text of ``otf2-print``."""
    text = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True).stdout
    paradigms = dict(re.findall(r'IO_PARADIGM +(\d+)  Identification: "(.*?)"', text))
    handles = {}
    for line in text.splitlines():
        found = re.match(
            r"IO_HANDLE +(\d+) .*File: .*\"(?:file://)?(/scratch.*?)\" <(\d+)>, I/O Paradigm: .*<(\d+)>,", line
        )
        if found and paradigms[found[4]] == "POSIX" and line.endswith("Parent: UNDEFINED"):
            handles[found[1]] = found[3]
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    counts, last, dirty, place, order = defaultdict(int), {}, defaultdict(int), {}, []
    for line in text.splitlines():
        found = re.match(
            r"IO_OPERATION_(BEGIN|COMPLETE) +(\d+) +(\d+)  Handle: \".*\" <(\d+)>, (.*)Matching Id: (\d+)", line
        )
        if not found or found[4] not in handles:
            continue
        key = found[2], found[4], found[6]
        if found[1] == "BEGIN":
            place[key] = len(order)
            order.append([found[2], handles[found[4]], re.search(r"Mode: (\w+)", found[5])[1], 0])
        else:
            order[place[key]][3] = int(re.search(r"Bytes Result: (\d+)", found[5])[1])
    for location, file, mode, moved in order:
        stream = location, file
        if mode == "FLUSH":
            counts["full" if dirty[stream] else "empty"] += 1
            dirty[stream] = 0
            continue
        counts["turns"] += last.get(stream, mode) != mode
        counts["transfers"] += 1
        last[stream] = mode
        dirty[stream] += moved if mode == "WRITE" else 0
    return counts


@pytest.mark.recordings
@pytest.mark.parametrize("name", ["ior_fsync_per_write", "mdworkbench4", "ior_posix_fpp8"])
@pytest.mark.parametrize("memory", [None, 300_000_000])
def test_counts_of_recordings(name, memory, recordings):
    anchor = recordings / "benchmarks" / name / "traces.otf2"
    trace = open_trace(anchor, memory=memory)
    deeds = trace.relations.sums.streams[trace.order.index("POSIX")].deeds
    counts = np.bincount(deeds.keys[0], deeds["count"], minlength=len(Deed)).astype(int).tolist()
    expected = streams_of(anchor)
    assert counts[Deed.TURNS] == expected["turns"]
    assert counts[Deed.TURNS] + counts[Deed.GOES_ON] == expected["transfers"] > 0
    assert (counts[Deed.FLUSHES], counts[Deed.FLUSHES_NOTHING]) == (expected["full"], expected["empty"])


@pytest.mark.recordings
def test_every_second_flush_of_a_recording_is_needless(recordings):
    anchor = recordings / "benchmarks" / "ior_fsync_per_write" / "traces.otf2"
    ids = {one.id: one for one in find(open_trace(anchor))}
    # IOR calls fsync twice after each of 4 × 8 × 8 writes.
    assert ids["metadata-sync"].evidence["empty_flushes"] == 256
    assert ids["metadata-sync"].cost_s < ids["flush-dominates"].cost_s


@pytest.mark.recordings
def test_what_metadata_costs_where_calls_were_recorded(recordings):
    anchor = recordings / "benchmarks" / "mdtest8" / "traces.otf2"
    trace = open_trace(anchor)
    (one,) = find(trace)
    kinds = {call.kind: call.summed_s for call in trace.calls.totals.call_times if call.layer == "POSIX"}
    assert one.evidence["metadata_s"] == pytest.approx(kinds["opens"] + kinds["closes"] + kinds["deletions"])
    # Eight ranks share it.
    assert one.evidence["metadata_s"] / 8 <= one.cost_s < one.evidence["metadata_s"]
    # Less than a fiftieth of the run.
    assert (one.id, one.severity) == ("metadata-storm", "info")


@pytest.mark.parametrize(("place", "told"), [("random", "go back"), ("strided", "in equal strides"), ("on", None)])
@pytest.mark.parametrize("recorded", [True, False])
def test_requests_that_do_not_follow_one_another(written, place, told, recorded):
    """Whether offsets are recorded or follow from seeks, the same is found."""
    handle = written.handle(written.file("/s/a"), written.posix)
    written.create(2, handle, 0)
    order = np.random.default_rng(1).permutation(200) if place == "random" else np.arange(200)
    for step, at in enumerate(order.tolist()):
        offset = at * 4096 * (3 if place == "strided" else 1)
        if not recorded:
            arguments = (handle, offset, IoSeekOption.FROM_START, offset)
            written.events.append((1_000 * step + 500, step, 2, "io_seek", arguments))
        where = offset if recorded else None
        written.operate(2, handle, READ, 1_000 * step + 600, 1_000 * step + 900, 4096, offset=where)
    found = written.findings()
    assert ("random-access" in found) is (told is not None)
    if told:
        one = found["random-access"]
        assert told in one.text
        assert "rank 2" in one.text
        assert one.evidence["operations"] == 200
        assert one.evidence["apart_operations"] == (order[1:] != order[:-1] + 1).sum() if place == "random" else 199
        assert one.evidence["back_operations"] == (order[1:] <= order[:-1]).sum()
        assert one.cost_s == pytest.approx(one.evidence["apart_operations"] * 300e-6 * 256 / 257)


def test_requests_apart_cost_what_they_take_longer_than_those_that_follow(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    at = 0
    for step in range(300):
        far = step % 3 != 0
        at += 4096 * (50 if far else 1)
        written.operate(0, handle, READ, 1_000 * step, 1_000 * step + (600 if far else 200), 4096, offset=at)
    one = written.findings()["random-access"]
    assert one.evidence["slower"] == pytest.approx(3)
    assert one.cost_s == pytest.approx(one.evidence["apart_operations"] * 400e-6)
    assert "3.0 times as long" in one.text


@pytest.mark.parametrize(
    ("status", "each", "bounded"),
    [("AVOID_CACHING", 300, True), ("NONE", 300, False), ("AVOID_CACHING", 4000, False)],
    ids=["past-caches", "read-ahead", "heads-may-move"],
)
def test_sorting_saves_no_more_than_the_best_pace_where_order_is_nothing(written, status, each, bounded):
    """An eighth of the reads takes a quarter of the time of the others."""
    handle = written.handle(written.file("/s/a"), written.posix)
    arguments = (handle, IoAccessMode.READ_ONLY, IoCreationFlag.NONE, getattr(IoStatusFlag, status))
    written.events.append((0, 0, 0, "io_create_handle", arguments))
    for step, at in enumerate(np.random.default_rng(1).permutation(200).tolist()):
        lasts = each // 4 if step % 8 == 0 else each
        written.operate(0, handle, READ, 5_000 * step, 5_000 * step + lasts, 65_536, offset=2 * at * 65_536)
    one = written.findings()["random-access"]
    assert (one.gain_s is not None) is bounded
    if bounded:
        assert one.gain_s[0] == 0
        assert one.gain_s[1] == pytest.approx(one.cost_s * (1 - 0.25 / (0.875 + 0.125 * 0.25)), rel=0.01)
