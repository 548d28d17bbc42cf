"""The rank that all others wait for one after the other, as in a pipeline: tick by tick, and in written runs."""

import numpy as np
import otf2
import pytest
from iostrata import open_trace
from iostrata.analysis.comparison.elsewhere import elsewhere
from iostrata.analysis.findings import find
from iostrata.layers.attribution.calls.alone import alone_of, alone_stretches
from iostrata.layers.attribution.calls.waits import NOBODY_WAITS
from iostrata.model.ranges import NOTHING, Coverage
from otf2.enums import (
    IoHandleFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    LocationGroupType,
    Paradigm,
    RegionRole,
)

PIECE = 2**21


def pipeline(path, *, steps=12, work=300, first="MPI_Ssend", reads="MPI_Recv", hand_on=True, writes_in_turn=False):
    """Write a run: rank 0 writes 2 MiB and hands on at once, rank 1 works on each piece, and rank 2 takes the results.

    Where rank 1 does not `hand_on`, it calls nothing until the end, and the others go on by themselves all the same.
    Rank 0 writes while rank 1 works or, `writes_in_turn`, while rank 1 is in MPI.
    """
    ms = 1000
    with otf2.writer.open(str(path), archive_name="traces", timer_resolution=10**6) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        posix = definitions.io_paradigm("POSIX", "POSIX", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        files = [definitions.io_regular_file(f"/d/{name}", node) for name in "ab"]
        write = definitions.region("write", region_role=RegionRole.FILE_IO)
        names = {name: definitions.region(name, paradigm=Paradigm.MPI) for name in (first, reads, "MPI_Finalize")}
        writers = []
        for rank in range(3):
            group = definitions.location_group(f"MPI Rank {rank}", LocationGroupType.PROCESS, node)
            writers.append(trace.event_writer(f"thread {rank}", group=group))
        handles = [definitions.io_handle("", one, posix, IoHandleFlag.NONE, None, None) for one in files]

        def call(rank, region, begin, end, size=0):
            writers[rank].enter(begin * ms, region)
            if size:
                writers[rank].io_operation_begin(begin * ms, handles[rank], IoOperationMode.WRITE, 0, size, 1)
                writers[rank].io_operation_complete(end * ms, handles[rank], size, 1)
            writers[rank].leave(end * ms, region)

        length = work + 10
        for step in range(steps):
            start = length * step
            written = start + (2 if writes_in_turn else 100)
            call(0, write, written, written + 40, PIECE)
            call(0, names[first], written + 41, start + length - 1)
            call(1, write, start + length - 20, start + length - 10, 2**19)
            if hand_on:
                # In turn, it takes up what rank 0 has written only then.
                call(1, names[first], start + length - 3, start + length + (45 if writes_in_turn else 0))
            call(2, names[reads], start, start + length - 1)
        for rank in range(3):
            call(rank, names["MPI_Finalize"], steps * length + 50, steps * length + 3050)
    return open_trace(path / "traces.otf2")


def test_the_bottleneck_of_a_pipeline_is_named_and_sharing_what_goes_on_beside_it_saves_nothing(tmp_path):
    run = pipeline(tmp_path / "run")
    alone = run.calls.alone
    # Rank 0 is in MPI from 141 ms of each step on, and rank 1 from 307 on.
    assert alone.summed[1] == pytest.approx(12 * 0.166, rel=0.001)
    assert alone.io[1] == pytest.approx(12 * 0.01, rel=0.1)
    assert alone.hidden.tolist() == pytest.approx([12 * 0.04, 0, 0])
    # While rank 1 is not in MPI, rank 0 is from 141 ms on and rank 2 all the time, but for 1 ms.
    assert alone.awaited[1] == pytest.approx(12 * (0.166 + 0.307) / 2, rel=0.01)
    (sentence,) = elsewhere(run)
    # Not MPI_Finalize, which takes longest.
    assert "29 % of the run, all ranks but rank 1 are in MPI, most in MPI_Recv and MPI_Ssend, until" in sentence
    assert sentence.endswith("6 % of what it does meanwhile is I/O")
    (uneven,) = (one for one in find(run) if one.id == "imbalance")
    assert uneven.gain_s == pytest.approx((0, 0), abs=1e-6)
    assert uneven.gain_reason.endswith("without what goes on while another rank works that all wait for")


@pytest.mark.parametrize(
    "changed",
    [
        # The others go on by themselves.
        {"hand_on": False},
        {"work": 6000, "steps": 2},
        # Nobody waits there.
        {"reads": "MPI_Iprobe"},
    ],
)
def test_nothing_is_said_of_one_that_nobody_waits_for_or_but_once(tmp_path, changed):
    # How long a rank is in calls for messages is no matter of who is waited for.
    assert not [one for one in elsewhere(pipeline(tmp_path / "run", **changed)) if "calls that send" not in one]


def test_what_is_written_while_the_bottleneck_waits_may_be_shared(tmp_path):
    run = pipeline(tmp_path / "run", writes_in_turn=True)
    assert "all ranks but rank 1 are in MPI" in elsewhere(run)[0]
    (uneven,) = (one for one in find(run) if one.id == "imbalance")
    assert uneven.gain_s[1] > 0.2
    assert "another rank" not in uneven.gain_reason


def test_who_is_alone_as_counted_tick_by_tick():
    random = np.random.default_rng(3)
    length, ranks = 400, 3
    kind = np.zeros((ranks, length), np.int64)
    for row in range(ranks):
        # No two ranks begin or end anything at once.
        edges = np.sort(random.choice(np.arange(1 + row, length, ranks), 60, replace=False))
        kind[row] = np.searchsorted(edges, np.arange(length), "right") % 3
    # 0: neither, 1: I/O, 2: MPI.
    summed, in_io, tick = np.zeros(ranks), np.zeros(ranks), 0
    while tick < length:
        out = np.flatnonzero(kind[:, tick] < 2)
        if len(out) != 1:
            tick += 1
            continue
        end = tick
        while end < length and np.flatnonzero(kind[:, end] < 2).tolist() == out.tolist():
            end += 1
        if end < length and kind[out[0], end] == 2:
            summed[out[0]] += end - tick
            in_io[out[0]] += (kind[out[0], tick:end] == 1).sum()
        tick = end

    def covered(chosen):
        group, begin = np.nonzero(chosen)
        return Coverage.of(group, begin, begin + 1)

    def alone(*both):
        stretches = alone_stretches(np.arange(ranks), (*both, NOBODY_WAITS), (0, length))
        return alone_of((0, 1, 2), np.arange(ranks), both, stretches, 1.0)

    found = alone(covered(kind == 1), covered(kind > 0))
    assert summed.min() > 0
    assert (found.summed.tolist(), found.io.tolist()) == (summed.tolist(), in_io.tolist())
    longest = summed.argmax()
    assert found.hidden.tolist() == [((kind[row] == 1) & (kind[longest] == 0)).sum() for row in range(ranks)]
    nobody = alone(NOTHING, NOTHING)
    assert nobody.summed.tolist() == [0, 0, 0]
