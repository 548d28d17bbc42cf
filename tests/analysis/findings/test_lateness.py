"""Ranks that come last, phase by phase: made archives with known delays, and a recorded program with a late rank."""

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.analysis.comparison.headline import headline_of
from iostrata.analysis.detect import detect_period
from iostrata.analysis.findings import find
from iostrata.analysis.findings.last_ranks import last_ranks
from iostrata.analysis.results.parts import Phase
from otf2.enums import GroupFlag, GroupType, IoOperationFlag, IoOperationMode, Paradigm

WRITE = IoOperationMode.WRITE
LATE4 = Path(__file__).resolve().parents[3] / "fixtures" / "late4"
PERIOD, TOOK, LATE, PHASES = 500_000, 20_000, 60_000, 12


def phases_of(written, late_ranks, *, waits=True, flags=IoOperationFlag.NONE, layer="posix"):
    """Let four ranks write in phases; the one of `late_ranks` comes late, and the others wait or do not."""
    handle = written.handle(written.file("/s/a"), getattr(written, layer))
    for phase, late in enumerate(late_ranks):
        begin = PERIOD * (phase + 1)
        for rank in range(4):
            start = begin + (LATE if rank in np.atleast_1d(late) else 0)
            # Of collective calls all are done together.
            end = begin + LATE + TOOK if flags else start + TOOK
            written.operate(rank, handle, WRITE, start, end, 2**22, flags)
            if not flags:
                written.call(rank, "write", start, end)
                # They come together to what is next: who is early waits.
                over = begin + LATE + TOOK if waits else end
                written.call(rank, "MPI_Barrier", end + 1, over + 10)
            else:
                written.call(rank, "MPI_File_write_all", start, end)
    return written.findings()


def test_a_rank_that_is_always_late(written):
    one = phases_of(written, [2] * PHASES)["stragglers"]
    assert (one.evidence["ranks"], one.evidence["phases"], one.evidence["last_phases"]) == ([2], PHASES, PHASES)
    assert one.evidence["late_s"] == pytest.approx(0.06)
    assert one.cost_s == pytest.approx(PHASES * 0.06, rel=1e-3)
    assert one.severity == "warning"


@pytest.mark.parametrize("late", [(1, 3), (0, 1)])
def test_ranks_that_are_late_together(written, late):
    one = phases_of(written, [late] * PHASES)["stragglers"]
    assert (one.evidence["ranks"], one.evidence["rank_count"]) == (list(late), 2)
    assert f"ranks {late[0]} and {late[1]} are done last in 12 of 12 phases" in one.text
    assert one.cost_s == pytest.approx(PHASES * LATE / 1e6, rel=1e-3)


def test_pairs_that_change_are_no_stragglers(written):
    assert "stragglers" not in phases_of(written, [(0, 1), (2, 3), (1, 2), (0, 3), (0, 2), (1, 3)] * 2)


def test_most_ranks_late_make_none_a_straggler(written):
    assert "stragglers" not in phases_of(written, [(0, 1, 3)] * PHASES)


def test_a_rank_that_nobody_waits_for_costs_nothing(written):
    assert "stragglers" not in phases_of(written, [2] * PHASES, waits=False)


def test_ranks_with_nothing_to_write_wait_for_no_late_one(written):
    """Ranks 2 and 3 are in a barrier all the time, and rank 0 does not wait for rank 1."""
    handle = written.handle(written.file("/s/a"), written.posix)
    for phase in range(PHASES):
        for rank in range(2):
            begin = PERIOD * (phase + 1)
            end = begin + TOOK + LATE * rank
            written.operate(rank, handle, WRITE, begin, end, 2**22)
            written.call(rank, "write", begin, end)
    for rank in (2, 3):
        written.call(rank, "MPI_Barrier", 1000, PERIOD * (PHASES + 1))
    assert "stragglers" not in written.findings()


@pytest.mark.parametrize(("times", "reason"), [(30, "imbalance"), (1, None)])
def test_a_rank_with_more_to_do_is_late_by_that(written, times, reason):
    handle = written.handle(written.file("/s/a"), written.posix)
    for phase in range(PHASES):
        for rank in range(4):
            begin, size = PERIOD * (phase + 1), 2**22 * (times if rank == 1 else 1)
            end = begin + TOOK + LATE * (rank == 1)
            written.operate(rank, handle, WRITE, begin, end, size)
            written.call(rank, "write", begin, end)
            written.call(rank, "MPI_Barrier", end + 1, begin + TOOK + LATE + 10)
    found = written.findings()
    assert ("imbalance" in found) is (reason is not None)
    assert ("stragglers" in found) is (reason is None)


def test_another_rank_each_time_is_no_straggler(written):
    assert "stragglers" not in phases_of(written, [0, 1, 2, 3] * 3)


def test_who_comes_late_to_collective_calls(written):
    found = phases_of(written, [1] * PHASES, flags=IoOperationFlag.COLLECTIVE, layer="mpi")
    one = found["late-arrivals"]
    assert "to which rank 1 comes last each time, 60 ms after the median of the others" in one.text
    assert one.cost_s == pytest.approx(PHASES * 0.06, rel=1e-3)
    assert one.gain_s == pytest.approx((PHASES * 0.045, PHASES * 0.06), rel=1e-3)
    assert "stragglers" not in found


def test_without_calls_who_begins_collective_transfers_late_is_told(written):
    handle = written.handle(written.file("/s/a"), written.mpi)
    for phase in range(PHASES):
        for rank in range(4):
            begin, end = PERIOD * (phase + 1), PERIOD * (phase + 1) + LATE + TOOK
            written.operate(rank, handle, WRITE, begin + LATE * (rank == 1), end, 2**22, IoOperationFlag.COLLECTIVE)
    found = written.findings()
    assert "rank 1 begins last in 12 of 12 phases" in found["stragglers"].text
    assert "late-arrivals" not in found


def opens_of(written, late_ranks, *, function="MPI_File_open", communicator=None, write=False, skip=()):
    """Let four ranks open files together, to which those of `late_ranks` come late and may write meanwhile."""
    own = written.handle(written.file("/s/own"), written.posix)
    for step, late in enumerate(late_ranks):
        handle = written.handle(written.file(f"/s/{step}"), written.mpi, communicator=communicator)
        for rank in range(4):
            begin = PERIOD * (step + 1)
            start = begin + LATE * (rank == late)
            if write and rank == late:
                written.operate(rank, own, WRITE, begin, start - 1, 2**22)
                written.call(rank, "write", begin, start - 1)
            if (step, rank) not in skip:
                written.create(rank, handle, begin + LATE + 5)
                written.call(rank, function, start, begin + LATE + TOOK)
                written.operate(rank, handle, WRITE, begin + 100_000, begin + 101_000, 2**20)
                written.call(rank, "MPI_File_write_at", begin + 100_000, begin + 101_000)
    return written.findings()


def test_a_rank_that_comes_late_to_opens_is_no_slow_open(written):
    found = opens_of(written, [2] * PHASES)
    one = found["late-arrivals"]
    assert (one.evidence["ranks"], one.evidence["calls"], one.evidence["last_calls"]) == ([2], PHASES, PHASES)
    assert one.evidence["waited_s"] == pytest.approx(PHASES * 3 * 0.06)
    assert one.evidence["late_s"] == pytest.approx(0.06)
    assert one.cost_s == pytest.approx(PHASES * 0.06)
    # What the calls take once all are there.
    assert found["metadata-time"].cost_s == pytest.approx(PHASES * 0.02)
    assert found["metadata-time"].evidence["metadata_s"] == pytest.approx(PHASES * 4 * 0.02)
    assert found["metadata-time"].evidence["waited_s"] == pytest.approx(PHASES * 3 * 0.06)
    assert "720 ms more until the last rank came" not in found["metadata-time"].text
    assert "2.16 s more until the last rank came" in found["metadata-time"].text


def test_another_rank_each_time_may_come_late(written):
    one = opens_of(written, [0, 1, 2, 3] * 3)["late-arrivals"]
    assert (one.evidence["ranks"], one.evidence["last_calls"]) == ([], None)
    assert "another rank comes last each time" in one.text
    assert one.cost_s == pytest.approx(9 * 0.06)


def test_few_ranks_of_several_may_be_late_by_turns(written):
    one = opens_of(written, [0, 3] * 6)["late-arrivals"]
    assert one.evidence["ranks"] == [0, 3]
    assert "ranks 0 and 3 come last each time" in one.text


def test_who_waits_for_a_rank_in_its_io_waits_for_io(written):
    found = opens_of(written, [0] * PHASES, write=True)
    assert "late-arrivals" not in found
    # No call takes longer by that.
    assert found["metadata-time"].cost_s == pytest.approx(PHASES * 0.02, rel=1e-3)


def test_who_closes_a_file_that_another_still_writes_waits_for_the_write(written):
    """The data of all go through rank 0, which leaves the collective write 100 ms after the others: they close."""
    for step in range(6):
        handle = written.handle(written.file(f"/s/{step}"), written.mpi)
        for rank in range(4):
            begin, took = 200_000 * step, 120_000 if rank == 0 else 20_000
            written.call(rank, "MPI_File_write_at_all", begin, begin + took)
            written.operate(rank, handle, WRITE, begin + 1, begin + took - 1, 2**20, IoOperationFlag.COLLECTIVE)
            written.call(rank, "MPI_File_close", begin + took + 10, begin + 122_000)
            written.destroy(rank, handle, begin + 121_000)
    found = written.findings()
    assert "metadata-time" not in found or found["metadata-time"].cost_s < 6 * 0.003


@pytest.mark.parametrize(
    ("function", "also", "ranks", "told"),
    [
        # Ranks 0 and 1 need nothing of rank 2 there.
        (
            "MPI_Exscan",
            False,
            [2],
            "rank 2 holds up each time, by 65 ms for the one in the middle of the others: rank 3",
        ),
        # All but rank 2 are in MPI.
        ("MPI_Recv", False, [2], "rank 3 comes last, after waiting in MPI"),
        ("MPI_Recv", True, [3], "rank 3 comes last each time, 65 ms after the median of the others; until then who"),
    ],
)
def test_who_comes_late_as_it_waits_for_another_is_no_cause(written, function, also, ranks, told):
    """Rank 2 computes longer, and rank 3 waits for it; where it is in MPI too, nobody knows for whom."""
    for step in range(PHASES):
        handle, start = written.handle(written.file(f"/s/{step}"), written.mpi), PERIOD * (step + 1)
        for rank in range(4):
            if rank == 2:
                begin, end = (start if also else start + LATE - 1), start + LATE
            else:
                begin, end = start, start + LATE + 5_000 if rank == 3 else start + 1
            if function == "MPI_Exscan" or rank > 1:
                written.call(rank, function, begin, end)
            written.call(rank, "MPI_File_open", end + 1, start + LATE + 6_000)
            written.create(rank, handle, start + LATE + 5_500)
            written.call(rank, "MPI_File_write_at", start + 100_000, start + 101_000)
            written.operate(rank, handle, WRITE, start + 100_000, start + 101_000, 2**20)
    one = written.findings()["late-arrivals"]
    assert (one.evidence["ranks"], told in one.text) == (ranks, True)


@pytest.mark.parametrize(
    ("function", "alone"), [("MPI_File_get_size", False), ("MPI_File_open", True)], ids=["of one rank", "by itself"]
)
def test_nobody_waits_in_calls_that_each_rank_makes_by_itself(written, function, alone):
    communicator = None
    if alone:
        group = written.trace.definitions.group("", GroupType.COMM_SELF, Paradigm.MPI, GroupFlag.NONE, ())
        communicator = written.trace.definitions.comm("MPI_COMM_SELF", group, None)
    found = opens_of(written, [2] * PHASES, function=function, communicator=communicator)
    assert "late-arrivals" not in found


def test_who_does_not_take_part_waits_for_nobody(written):
    one = opens_of(written, [2] * PHASES, skip={(3, 0)})["late-arrivals"]
    # The others meet without it.
    assert one.evidence["calls"] == PHASES
    assert one.evidence["waited_s"] == pytest.approx((PHASES * 3 - 1) * 0.06)


def test_without_calls_it_is_not_known_what_it_costs(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for phase in range(PHASES):
        for rank in range(4):
            begin = PERIOD * (phase + 1) + (LATE if rank == 3 else 0)
            written.operate(rank, handle, WRITE, begin, begin + TOOK, 2**22)
    one = written.findings()["stragglers"]
    assert (one.severity, one.cost_s, one.evidence["ranks"]) == ("info", None, [3])


def test_a_line_of_a_log_makes_no_rank_late(written):
    log = written.handle(written.file("/s/log"), written.posix)
    for phase in range(PHASES):
        written.operate(0, log, WRITE, PERIOD * (phase + 1) + 70_000, PERIOD * (phase + 1) + 70_100, 60)
    assert phases_of(written, [2] * PHASES)["stragglers"].evidence["ranks"] == [2]


@pytest.mark.parametrize("memory", [None, 2**29])
def test_a_recorded_program(memory):
    trace = open_trace(LATE4, memory=memory)
    (one,) = (one for one in find(trace) if one.id == "stragglers")
    # Twelve dumps, one of which is two phases: the three early ranks' and that of the late one.
    assert one.evidence["ranks"] == [2]
    assert one.evidence["last_phases"] >= 11
    assert one.evidence["late_s"] == pytest.approx(0.06, abs=0.03)
    assert 12 * 0.03 < one.cost_s < 12 * 0.09


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")
def test_last_ranks_as_otf2_print_tells():
    text = subprocess.run(["otf2-print", LATE4 / "traces.otf2"], capture_output=True, text=True, check=True).stdout
    ends = defaultdict(list)
    for line in text.splitlines():
        found = re.match(r'IO_OPERATION_COMPLETE +(\d+) +(\d+)  Handle: .*"/scratch[^"]*/data', line)
        if found is None:
            found = re.match(r"IO_OPERATION_COMPLETE +(\d+) +(\d+)  .*Bytes Result: 1048576,", line)
        if found:
            ends[int(found[1])].append(int(found[2]))
    assert {rank: len(times) for rank, times in ends.items()} == dict.fromkeys(range(4), 96)
    trace = open_trace(LATE4)
    phases = detect_period(trace.layers["POSIX"].bandwidth("write", "own")).phases
    found = last_ranks(trace, {("POSIX", "write", "own"): phases})["POSIX", "write", "own"]
    # Each rank's dumps are eight writes; who ends its eighth last, and how far behind the next to last?
    dumps = np.array([ends[rank] for rank in range(4)]).reshape(4, 12, 8)[:, :, -1]
    ordered = np.sort(dumps, axis=0)
    expected = set(zip(dumps.argmax(0).tolist(), (ordered[-1] - ordered[-2]).tolist(), strict=True))
    told = {(one.rank, round(one.late * 1e9)) for one in found if one is not None and one.ranks == 4}
    assert len(told) >= 11
    assert told <= expected


def test_of_many_phases_and_ranks_the_first_phases_are_looked_at(monkeypatch):
    trace = open_trace(LATE4)
    key = "POSIX", "write", "own"
    phases = detect_period(trace.layers["POSIX"].bandwidth("write", "own")).phases
    whole = last_ranks(trace, {key: phases})[key]
    monkeypatch.setattr("iostrata.analysis.findings.last_ranks._MOST", 5 * 4 + 3)
    some = last_ranks(trace, {key: phases})[key]
    assert len(some) == len(whole) == len(phases)
    assert some[:4] == whole[:4]
    assert set(some[5:]) == {None}
    monkeypatch.setattr("iostrata.analysis.findings.last_ranks._MOST", 1)
    some = last_ranks(trace, {key: phases})[key]
    assert some[0] == whole[0]
    assert set(some[1:]) == {None}


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_who_is_last_and_how_far_behind_the_median(written, ranks):
    random = np.random.default_rng(ranks)
    ends = 1000 * np.arange(1, 7)[:, np.newaxis] + random.permuted(np.tile(37 * np.arange(ranks), (6, 1)), axis=1)
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(ranks):
        for phase in range(6):
            written.operate(rank, handle, WRITE, 1000 * phase + 900, int(ends[phase, rank]), 2**20)
    trace = written.closed()
    second = trace.definitions.clock.ticks_per_second
    phases = tuple(
        Phase((1000 * phase + 900) / second, float(ends[phase].max()) / second, ranks * 2.0**20) for phase in range(6)
    )
    found = last_ranks(trace, {("POSIX", "write", "own"): phases})["POSIX", "write", "own"]
    assert [one.rank for one in found] == ends.argmax(1).tolist()
    assert [one.ranks for one in found] == [ranks] * 6
    late = np.sort(ends, axis=1)
    assert [one.late for one in found] == pytest.approx(((late[:, -1] - late[:, -2]) / second).tolist())
    behind = (late[:, -1] - np.median(ends, axis=1)) / second
    assert [one.after_median for one in found] == pytest.approx(behind.tolist())


@pytest.mark.parametrize("phases", [1, 2, 6])
@pytest.mark.parametrize(("begins", "counts"), [(-1, False), (0, True), (100, True), (545, True), (555, False)])
def test_what_begins_in_a_phase_or_soon_after_belongs_to_it(written, phases, begins, counts):
    """Phases of 100 ticks, 900 apart: a rank that begins up to half of that behind a phase is the last one of it.

    Nobody knows when the next phase would be behind one that is alone.
    """
    handle = written.handle(written.file("/s/a"), written.posix)
    for phase in range(phases):
        for rank, (start, end) in enumerate([(0, 90), (0, 100), (begins, begins + 2)]):
            written.operate(rank, handle, WRITE, 1000 * (phase + 1) + start, 1000 * (phase + 1) + end, 2**20)
    trace = written.closed()
    second = trace.definitions.clock.ticks_per_second
    of = tuple(Phase(1000 * (one + 1) / second, (1000 * (one + 1) + 100) / second, 1.0) for one in range(phases))
    found = last_ranks(trace, {("POSIX", "write", "own"): of})["POSIX", "write", "own"]
    counts = counts and (phases > 1 or begins <= 100)
    assert [one.ranks for one in found] == [3 if counts else 2] * phases


def test_periods_that_are_known_are_not_looked_for_again(monkeypatch):
    """Of layers that only the program calls; what is inherited in others is no part of its own phases."""
    trace, asked = open_trace(LATE4.with_name("ckpt4")), []

    def detect(signal):
        asked.append(signal.name)
        return detect_period(signal)

    monkeypatch.setattr("iostrata.analysis.findings.facts.detect_period", detect)
    before = find(trace)
    assert asked
    layers = {name: layer for name, layer in trace.layers.items() if layer.statistics("write").operations}
    known = {(name, "write"): detect_period(layer.bandwidth("write")) for name, layer in layers.items()}
    shared = [name for name, layer in layers.items() if layer.lineages_of("own") == layer.lineages_of("all")]
    assert shared
    expected = [name for name in asked if name.removesuffix(" write (own)") not in shared]
    asked.clear()
    assert find(trace, periods=known) == before
    assert asked == expected


def test_what_cannot_be_left_out_is_nothing_to_gain(written):
    """Each rank opens the one file once, which takes long, and writes it in no time."""
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        written.create(rank, handle, 200_000)
        written.call(rank, "open", 1000, 400_000)
        written.operate(rank, handle, WRITE, 500_000, 520_000, 2**22)
        written.call(rank, "write", 500_000, 520_000)
        written.call(rank, "MPI_Barrier", 900_000, 1_000_000)
    trace = written.closed()
    findings = find(trace)
    assert {one.id: one.gain_s for one in findings}["metadata-time"] == (0.0, 0.0)
    text = headline_of(trace, findings).text
    assert "POSIX, since opens take long; nothing to gain by fewer of them" in text


def test_a_rank_with_most_to_write_is_longest_in_its_opens_as_well(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        took = 100_000 if rank == 1 else 5_000
        written.create(rank, handle, 2000)
        written.call(rank, "open", 1000, 1000 + took)
        written.operate(rank, handle, WRITE, 200_000, 200_000 + took, 2**25 if rank == 1 else 2**21)
        written.call(rank, "write", 200_000, 200_000 + took)
    one = written.findings()["imbalance"]
    assert one.evidence["busiest"] == "rank 1 does 84 %"
    assert one.cost_s == pytest.approx(2 * (0.1 - (0.1 + 3 * 0.005) / 4), rel=1e-3)


def test_a_late_rank_heads_the_io_of_those_that_wait(written):
    opens_of(written, [2] * PHASES)
    trace = open_trace(written.folder)
    text = headline_of(trace, find(trace)).text
    assert "MPI-IO, since rank 2 comes late to calls of all ranks; evenly shared work before them could save" in text


def collectives_of(written, busy):
    """Twelve collective writes that leave through rank 0; to one rank 2 comes late, `busy` with a file of its own.

    To the others another rank each time comes a little late.
    """
    data, file = {}, written.file("/s/data")
    for rank in range(4):
        data[rank] = written.handle(file, written.mpi)
    below = written.handle(file, written.posix, data[0])
    own = written.handle(written.file("/s/own"), written.posix)
    for step in range(12):
        begin, (last, late) = 1_000_000 * (step + 1), (2, 600_000) if step == 5 else (step % 4, 12_000)
        if busy and step == 5:
            written.operate(2, own, WRITE, begin, begin + late - 10, 2**28)
            written.call(2, "write", begin, begin + late - 10)
        for rank in range(4):
            start, end = begin + late * (rank == last), begin + late + 10_000
            written.operate(rank, data[rank], WRITE, start + 1, end - 1, 2**20, IoOperationFlag.COLLECTIVE)
            written.call(rank, "MPI_File_write_all", start, end)
        written.operate(0, below, WRITE, begin + late + 1000, begin + late + 9_000, 2**22)
    return written.findings()


@pytest.mark.parametrize("busy", [False, True])
def test_more_aggregators_do_not_spare_the_waiting_for_a_rank_that_comes_late(written, busy):
    """Whatever that one does meanwhile."""
    found = collectives_of(written, busy)
    assert found["funnelled-collective"].cost_s == pytest.approx(12 * 0.01, rel=0.01)
    assert ("late-arrivals" in found) is not busy


def test_what_others_wait_for_is_named_with_the_file_and_heads_the_io(written):
    found = collectives_of(written, True)
    one = found["slow-iteration"]
    assert (one.files, one.ranks) == (("/s/own",), (2,))
    text = headline_of(open_trace(written.folder), find(open_trace(written.folder))).text
    assert "as others wait for rank 2, which is busy with own; doing that elsewhere or not at all could save" in text


def test_a_rank_that_comes_late_once_is_told_by_how_late_it_was_then(written):
    one = collectives_of(written, False)["late-arrivals"]
    assert (one.evidence["ranks"], one.evidence["calls"], one.evidence["last_calls"]) == ([2], 12, 4)
    assert one.evidence["late_s"] == pytest.approx(0.6)
