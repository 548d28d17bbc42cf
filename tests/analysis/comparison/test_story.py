"""The story of a run: made archives whose segments are known, recorded ones, and the same everywhere it is told."""

import json
import re
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from iostrata import Phase, open_trace, write_hdf5, write_report
from iostrata.analysis.comparison.layer_periods import layer_periods
from iostrata.analysis.comparison.overview import overview_of
from iostrata.analysis.comparison.story import Segment, _named, results_of, story_of
from otf2.enums import IoOperationFlag, IoOperationMode

READ, WRITE = IoOperationMode.READ, IoOperationMode.WRITE
MILLION = 10**6
FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"


def told(trace):
    return story_of(trace, results_of(layer_periods(trace.layers.values())))


@pytest.fixture
def run(written):
    """Return an archive: input at 2 s, 20 checkpoints 0.4 s apart, a pause of 3 s, 15 others 0.22 s apart, a dump."""
    data = written.handle(written.file("/s/data"), written.posix)
    own = written.handle(written.file("/s/input"), written.posix)
    for rank in range(4):
        written.operate(rank, own, READ, 2 * MILLION, 2 * MILLION + 50_000, 2**20)
        for place in range(20):
            start = 3 * MILLION + 400_000 * place + 100 * rank
            written.operate(rank, data, WRITE, start, start + 20_000, 2**21)
        for place in range(15):
            start = 14 * MILLION + 220_000 * place + 100 * rank
            written.operate(rank, data, WRITE, start, start + 15_000, 2**20)
    written.operate(0, data, WRITE, 20 * MILLION, 20 * MILLION + 500_000, 2**25)
    # The run ends long after its I/O.
    written.operate(3, own, READ, 25 * MILLION, 25 * MILLION + 1, 0)
    written.findings()
    return written.folder


def test_a_run_of_known_segments(run):
    story = told(open_trace(run))
    kinds = [one.kind for one in story]
    assert kinds == ["start-up", "input", "pause", "checkpoints", "pause", "checkpoints", "pause", "final dump", "end"]
    first, second = (one for one in story if one.kind == "checkpoints")
    assert (first.period, first.phases, first.bytes_per_phase) == (pytest.approx(0.4, rel=0.01), 20, 4 * 2**21)
    assert (second.period, second.phases, second.bytes_per_phase) == (pytest.approx(0.22, rel=0.01), 15, 4 * 2**20)
    assert (first.start, first.end) == pytest.approx((3.0, 10.62), abs=0.01)
    assert (second.start, second.end) == pytest.approx((14.0, 17.1), abs=0.01)
    assert first.period_interval is None or first.period_interval[0] <= 0.4 <= first.period_interval[1]
    dump = story[-2]
    assert (dump.bytes, dump.ranks, dump.layers) == (2**25, 1, ("POSIX",))
    assert first.text == "checkpoints every 400 ms, 8.39 MB each (20); 4 ranks, POSIX"
    assert story[1].text == "input, 4.19 MB read; 4 ranks, POSIX"
    assert all(one.start <= other.start for one, other in pairwise(story))
    # Nothing is told twice, and nothing moved is left out.
    assert sum(one.bytes for one in story if one.direction == "write") == 4 * (20 * 2**21 + 15 * 2**20) + 2**25


def test_what_moves_in_no_time_between_segments_is_told(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for place in range(40):
        start = MILLION + 400_000 * place + (4 * MILLION if place >= 20 else 0)
        written.operate(0, data, WRITE, start, start + 20_000, 2**21)
    begun = (data, WRITE, IoOperationFlag.NONE, 2**23, MILLION, {})
    written.events.append((11 * MILLION, 0, 0, "io_operation_begin", begun))
    written.events.append((11 * MILLION, 1, 0, "io_operation_complete", (data, 2**23, MILLION)))
    written.findings()
    trace = open_trace(written.folder)
    # A detector may take it for no phase, as it has no bandwidth.
    results = {
        key: replace(result, phases=tuple(phase for phase in result.phases if phase.end > phase.start))
        for key, result in results_of(layer_periods(trace.layers.values())).items()
    }
    between = [one for one in story_of(trace, results) if one.kind == "burst"]
    assert [(one.bytes, one.ranks) for one in between] == [(2**23, 1)]
    assert (between[0].start, between[0].end) == (pytest.approx(11), pytest.approx(11))


def test_bursts_of_unequal_size_are_told_with_their_sum(written):
    handle = written.handle(written.file("/s/data"), written.posix)
    for place in range(20):
        size = 2**24 if place % 4 == 0 else 2**21
        written.operate(0, handle, WRITE, MILLION * place, MILLION * place + 50_000, size)
    written.findings()
    (text,) = [one.text for one in told(open_trace(written.folder)) if one.kind == "checkpoints"]
    assert text == "checkpoints every 999 ms, 115 MB in 20 bursts, half of them 2.1 MB at most; 1 rank, POSIX"


def test_a_period_whose_single_bursts_are_not_found_is_told_with_its_own_bytes(run):
    """A line in the spectrum may be far shorter than what stands out as bursts: 20 of these are not one a period."""
    trace = open_trace(run)
    results = results_of(layer_periods(trace.layers.values()))
    found = results["POSIX", "write"]
    first = min(found.regimes, key=lambda one: one.start)
    results["POSIX", "write"] = replace(
        found, periods=(replace(found.periods[0], period=0.004),), regimes=(replace(first, period=0.004),)
    )
    one = next(one for one in story_of(trace, results) if one.period is not None)
    assert one.kind == "writes"
    assert one.phases == round((one.end - one.start) / 0.004)
    assert one.bytes == 80 * 2**21
    assert one.bytes_per_phase == pytest.approx(one.bytes / one.phases, rel=1e-3)


def test_what_is_in_no_phase_is_not_left_out(run):
    trace = open_trace(run)
    results = results_of(layer_periods(trace.layers.values()))
    found = results["POSIX", "write"]
    results["POSIX", "write"] = replace(found, periods=(), regimes=(), phases=found.phases[10:])
    story = [one for one in story_of(trace, results) if one.direction == "write"]
    first = story[0]
    assert (first.kind, first.bytes, first.ranks) == ("burst", 40 * 2**21, 4)
    assert (first.start, first.end) == pytest.approx((3.0, 6.62), abs=0.01)
    assert first.text == "83.9 MB written; 4 ranks, POSIX"
    assert sum(one.bytes for one in story) == 4 * (20 * 2**21 + 15 * 2**20) + 2**25


def test_own_traffic_of_a_lower_layer_is_told_beside_what_it_carries(written):
    file = written.file("/s/out")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    log = written.handle(written.file("/s/log"), written.posix)
    for place in range(12):
        start = MILLION * place
        for rank in range(4):
            written.operate(rank, upper, WRITE, start, start + 80_000, 2**20, IoOperationFlag.COLLECTIVE)
        written.operate(0, lower, WRITE, start + 10_000, start + 70_000, 4 * 2**20)
    for place in range(48):
        start = 250_000 * place + 125_000
        written.operate(2, log, WRITE, start, start + 100, 1000)
    written.findings()
    story = [one for one in told(open_trace(written.folder)) if one.direction]
    assert [(one.kind, one.layers, one.ranks) for one in sorted(story, key=lambda one: one.kind)] == [
        ("checkpoints", ("MPI-IO", "POSIX"), 4),
        ("log", ("POSIX",), 1),
    ]
    assert {one.kind: one.period for one in story} == {
        "checkpoints": pytest.approx(1.0, rel=0.01),
        "log": pytest.approx(0.25, rel=0.01),
    }


def test_bursts_without_a_period_are_one_segment_until_a_long_pause(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for begin in (1.0, 1.9, 4.7, 5.1, 7.9, 40.0, 41.7):
        written.operate(1, handle, WRITE, round(begin * MILLION), round(begin * MILLION) + 60_000, 2**22)
    written.findings()
    story = told(open_trace(written.folder))
    assert [(one.kind, one.phases) for one in story] == [("start-up", 0), ("bursts", 5), ("pause", 0), ("bursts", 2)]


def test_nothing_is_told_of_a_run_without_bytes(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    written.create(0, handle, 10)
    written.findings()
    assert told(open_trace(written.folder)) == ()


def test_opens_and_deletions_while_nothing_moves_are_no_pause(written):
    data = written.handle(written.file("/s/data"), written.posix)
    small = [written.handle(written.file(f"/s/small.{row}"), written.posix) for row in range(50)]
    for place in range(10):
        written.operate(0, data, WRITE, MILLION * (1 + place), MILLION * (1 + place) + 50_000, 2**21)
    for burst in range(5):
        for row, handle in enumerate(small):
            for rank in range(4):
                written.create(rank, handle, 15 * MILLION + 2 * MILLION * burst + 1000 * row + rank)
    written.operate(0, data, READ, 30 * MILLION, 30 * MILLION + 1, 0)
    written.findings()
    story = told(open_trace(written.folder))
    assert [one.kind for one in story] == ["start-up", "checkpoints", "pause", "metadata", "end"]
    one = story[3]
    assert (one.metadata_events, one.phases, one.bytes, one.direction) == (1000, 5, 0.0, None)
    assert (one.start, one.end) == pytest.approx((15.0, 23.05), abs=0.01)
    assert one.text == "opens, closes and other metadata operations every 2 s, 200 each (5); POSIX"


def test_files_that_are_opened_while_nothing_moves_are_told(written):
    data = written.handle(written.file("/s/data"), written.posix)
    written.create(0, data, MILLION)
    for place in range(10):
        written.operate(0, data, WRITE, MILLION * (5 + place), MILLION * (5 + place) + 50_000, 2**21)
    written.findings()
    start, *_ = told(open_trace(written.folder))
    assert (start.kind, start.metadata_events, start.layers) == ("start-up", 1, ("POSIX",))
    assert start.text == "start-up, no reads or writes, 1 metadata operation; POSIX"


def test_what_a_program_writes_that_reads_meanwhile_is_no_checkpoint(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for place in range(20):
        start = MILLION * (5 + place)
        written.operate(0, data, WRITE, start, start + 50_000, 2**21)
        written.operate(0, data, READ, start + 60_000, start + 90_000, 2**21)
    written.findings()
    kinds = {one.kind for one in told(open_trace(written.folder)) if one.direction}
    assert kinds == {"writes", "reads"}


@pytest.mark.recordings
@pytest.mark.parametrize("memory", [None, 300_000_000])
def test_a_benchmark_of_metadata_is_told_by_its_iterations(memory, recordings):
    anchor = recordings / "benchmarks" / "mdtest8" / "traces.otf2"
    trace = open_trace(anchor, memory=memory)
    command = ["otf2-print", str(anchor)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^IO_(?:CREATE_HANDLE|DESTROY_HANDLE|DELETE_FILE) .*/data/md/", text, re.MULTILINE)
    start, once = told(trace)
    assert (start.kind, once.kind, once.phases) == ("start-up", "metadata", 4)  # mdtest -i 4
    assert once.metadata_events == len(found) == 4 * 720


def test_a_run_that_only_reads_has_no_input_and_no_pauses(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for place in range(20):
        # The first time takes longer, so that the second begins late for the period.
        start, end = MILLION * (1 + place) + (place > 0) * 150_000, MILLION * (1 + place) + 200_000
        written.operate(0, data, READ, start, end, 2**21)
    written.findings()
    story = told(open_trace(written.folder))
    assert [(one.kind, one.phases) for one in story] == [("start-up", 0), ("reads", 20)]


@pytest.mark.parametrize(("late", "size", "phases"), [(0.3, 2**21, 11), (0.8, 2**21, 10), (0.3, 2**23, 10)])
def test_a_burst_beside_a_train_belongs_to_it_if_alike_and_near(written, late, size, phases):
    data = written.handle(written.file("/s/data"), written.posix)
    for place in range(10):
        written.operate(0, data, WRITE, MILLION * (2 + place), MILLION * (2 + place) + 50_000, 2**21)
    last = round(MILLION * (12 + late))
    written.operate(0, data, WRITE, last, last + 50_000, size)
    written.findings()
    found = [one for one in told(open_trace(written.folder)) if one.kind == "checkpoints"]
    assert [one.phases for one in found] == [phases]


def test_bytes_between_bursts_without_a_period_are_not_left_out(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for begin in (1.0, 1.9, 4.7, 5.1, 7.9):
        written.operate(1, data, WRITE, round(begin * MILLION), round(begin * MILLION) + 60_000, 2**22)
    slow = written.handle(written.file("/s/slow"), written.posix)
    written.operate(2, slow, WRITE, 1_000_000, 7_960_000, 2**22)
    written.findings()
    assert [one.bytes for one in told(open_trace(written.folder)) if one.direction] == [pytest.approx(6 * 2**22)]


@pytest.mark.parametrize(("share", "bursts"), [(1.0, 1), (0.01, 9)])
def test_a_flow_that_only_rises_and_falls_is_one_and_bursts_upon_it_are_several(written, share, bursts):
    rng = np.random.default_rng(3)
    data = written.handle(written.file("/s/data"), written.posix)
    sizes = np.repeat(rng.integers(600_000, 1_400_000, 24), 10)
    high = [9, 30, 44, 80, 120, 132, 170, 199, 215]
    sizes = np.where(np.isin(np.arange(240), high), sizes, share * sizes).astype(int)
    for place, size in enumerate(sizes):
        start = place * MILLION // 4
        written.operate(0, data, WRITE, start, start + MILLION // 4, int(size))
    written.findings()
    story = [one for one in told(open_trace(written.folder)) if one.direction]
    assert sum(one.phases for one in story) == bursts
    assert share < 1 or len(story) == 1
    assert sum(one.bytes for one in story) == pytest.approx(sizes.sum(), rel=0.15)


def test_a_flow_that_begins_slowly_is_one_with_what_follows(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for place in range(240):
        start, size = place * MILLION // 4, 600_000 + 2_000 * place + 60_000 * (place // 3 % 2)
        written.operate(0, data, WRITE, start, start + MILLION // 4, size)
    written.findings()
    (one,) = told(open_trace(written.folder))
    assert (one.start, one.end, one.kind, one.phases) == (0.0, pytest.approx(60.0), "burst", 1)


@pytest.mark.parametrize(("sizes", "phases"), [((2**22, 2**18), 1), ((2**22, 2**22), 12)])
def test_bursts_hardly_apart_are_one_unless_they_are_alike(written, sizes, phases):
    """Where a program loses its processor, what it writes in one go falls into pieces of any size."""
    data = written.handle(written.file("/s/data"), written.posix)
    begin, bursts = 5 * MILLION, []
    for place in range(12):
        end = begin + 100_000 + 30_000 * (place % 5)
        written.operate(0, data, WRITE, begin, end, sizes[place % 2])
        bursts.append(Phase(begin / MILLION, end / MILLION, sizes[place % 2]))
        begin = end + 20_000 + 3_000 * (place * place % 7)
    written.operate(0, data, READ, 20 * MILLION, 20 * MILLION + 1, 0)
    written.findings()
    trace = open_trace(written.folder)
    results = results_of(layer_periods(trace.layers.values()))
    results["POSIX", "write"] = replace(results["POSIX", "write"], periods=(), regimes=(), phases=tuple(bursts))
    assert [one.phases for one in story_of(trace, results) if one.direction == "write"] == [phases]


def test_a_log_with_breaks_is_one(written):
    """A line every 50 ms, none while a checkpoint of 0.6 s is written after every tenth."""
    data = written.handle(written.file("/s/data"), written.mpi)
    log = written.handle(written.file("/s/log"), written.posix)
    begin = MILLION
    for line in range(60):
        written.operate(2, log, WRITE, begin, begin + 20, 80)
        begin += 50_000
        if line % 10 == 9:
            written.operate(0, data, WRITE, begin, begin + 600_000, 2**25)
            begin += 600_000
    written.findings()
    story = [one for one in told(open_trace(written.folder)) if one.direction]
    assert sorted((one.kind, one.phases) for one in story) == [("checkpoints", 6), ("log", 60)]


def test_of_a_part_of_the_run_no_silence_is_told(run):
    """What is not looked at may move meanwhile."""
    trace = open_trace(run)
    whole = results_of(layer_periods(trace.layers.values()))
    reads = {key: result for key, result in whole.items() if key[1] == "read"}
    assert {one.kind for one in story_of(trace, whole)} >= {"start-up", "pause", "end"}
    assert [one.direction for one in story_of(trace, reads)] == ["read"]


@pytest.mark.recordings
def test_the_clock_of_a_machine_is_no_rhythm_of_a_program(recordings):
    """Rank 0 of benchio writes ten times 33 MB; where it loses its processor, the gaps are multiples of 4 ms."""
    trace = open_trace(recordings / "benchmarks" / "benchio8")
    assert all(one.period is None for one in told(trace))


@pytest.mark.parametrize("name", ["ckpt4", "ncckpt4", "mixed4", "ckpt4_jitter", "aperiodic4", "ior384", "threads2"])
def test_recorded_runs(fixtures, name):
    trace = open_trace(fixtures / name)
    story = told(trace)
    start, end = trace.window
    assert all(start <= one.start <= one.end <= end + 1e-9 for one in story)
    if name in ("ckpt4", "ncckpt4", "mixed4", "ckpt4_jitter"):
        (checkpoints,) = (one for one in story if one.kind == "checkpoints")
        (log,) = (one for one in story if one.kind == "log")
        assert checkpoints.phases == {"ckpt4_jitter": 60}.get(name, 20)
        assert checkpoints.ranks == 4
        assert log.period < checkpoints.period
        moved = trace.layers[checkpoints.layers[0]].statistics("write").bytes
        assert checkpoints.bytes == pytest.approx(moved, rel=1e-6)
    if name == "ior384":
        assert {one.kind for one in story if one.period} == {"writes", "reads"}
        assert all(one.ranks == 384 for one in story if one.period)


def test_a_last_dump_is_told_however_many_checkpoints_there_were(written):
    handle = written.handle(written.file("/s/data"), written.posix)
    for begin in (*(MILLION * number for number in range(40)), 42_500_000):
        written.operate(0, handle, WRITE, begin, begin + 50_000, 2**21)
    written.findings()
    assert [one.kind for one in told(open_trace(written.folder)) if one.direction] == ["checkpoints", "final dump"]


@pytest.mark.parametrize(("start", "kind"), [(0.0, "burst"), (71.6, "final dump")])
def test_one_write_of_another_layer_meanwhile_is_no_last_dump(start, kind):
    """As of a library that takes all of the run for what the layer below writes piece by piece."""
    pieces = Segment(0.0, 71.5, "checkpoints", "write", ("POSIX",), 1.83, bytes_per_phase=3.6e6)
    whole = Segment(start, 71.7, "burst", "write", ("MPI-IO",), bytes=168_000_000)
    assert [one.kind for one in _named([whole, pieces])] == [kind, "checkpoints"]


@pytest.mark.parametrize(
    ("late", "size", "kinds"),
    [
        (0.2, 1.0, ["checkpoints"]),
        (-0.3, 0.9, ["checkpoints"]),
        (0.2, 4.0, ["checkpoints", "final dump"]),
        (1.5, 1.0, ["checkpoints", "final dump"]),
    ],
)
def test_a_last_repetition_is_one_more_of_the_same(written, late, size, kinds):
    """As in a series of IOR whose last repetition comes late since the one before was held up."""
    handle = written.handle(written.file("/s/data"), written.posix)
    for number in range(8):
        written.operate(0, handle, WRITE, MILLION * number, MILLION * number + 50_000, 2**21)
    last = round(MILLION * (8 + late))
    written.operate(0, handle, WRITE, last, last + 50_000, round(size * 2**21))
    written.findings()
    found = [one for one in told(open_trace(written.folder)) if one.direction]
    assert [one.kind for one in found] == kinds
    assert sum(one.phases for one in found) == 9
    assert sum(one.bytes for one in found) == 8 * 2**21 + round(size * 2**21)


def test_pieces_of_one_read_are_no_period_of_the_run(written):
    """Each piece comes 180 µs after the one before, in a run of 20 s."""
    own = written.handle(written.file("/s/input"), written.posix)
    data = written.handle(written.file("/s/data"), written.posix)
    for number in range(12):
        written.operate(0, own, READ, MILLION + 180 * number, MILLION + 180 * number + 20, 2**17)
    for number in range(8):
        begin = 2 * MILLION + 2 * MILLION * number
        written.operate(0, data, WRITE, begin, begin + 50_000, 2**22)
    written.findings()
    found = [one for one in told(open_trace(written.folder)) if one.direction]
    assert [one.kind for one in found] == ["input", "checkpoints"]
    assert found[0].bytes == 12 * 2**17


def test_a_first_line_of_a_log_is_no_segment_beside_the_log(fixtures):
    """It comes 97 ms before the next one, and all others 100 ms after the one before."""
    assert [one.kind for one in told(open_trace(fixtures / "ncckpt4")) if one.layers[:1] == ("ISOC",)] == ["log"]


def test_it_is_the_same_in_bounded_memory(fixtures):
    full, bounded = told(open_trace(fixtures / "ncckpt4")), told(open_trace(fixtures / "ncckpt4", memory=600_000_000))
    periodic = [[one for one in story if one.period] for story in (full, bounded)]
    assert [(one.kind, one.layers, one.ranks, one.phases) for one in periodic[0]] == [
        (one.kind, one.layers, one.ranks, one.phases) for one in periodic[1]
    ]
    for one, other in zip(*periodic, strict=True):
        assert one.period == pytest.approx(other.period, rel=1e-3)


def test_page_and_hdf5_tell_it_too(fixtures, tmp_path):
    h5py = pytest.importorskip("h5py")
    trace = open_trace(fixtures / "ckpt4")
    story = overview_of(trace).story
    assert any(one.text.startswith("20 × (open ckpt_*.dat, collective write 2 MiB, close") for one in story)
    page = write_report(trace, tmp_path / "a.html").path.read_text()
    contents = json.loads(re.search(r'<script type="application/json" id="contents">(.*?)</script>', page)[1])
    fold = next(one for one in contents["opening"] if one["title"] == f"The run in {len(story)} stretches")
    assert fold["blocks"][0]["texts"] == [[{"time": [one.start, one.end]}, f" {one.text}"] for one in story]
    with h5py.File(write_hdf5(trace, tmp_path / "a.h5", fs=10).path) as file:
        group = file["story"]
        assert [one.decode() for one in group["text"][:]] == [one.text for one in story]
        assert group["start_s"][:].tolist() == [one.start for one in story]
        assert group["phases"][:].tolist() == [one.phases for one in story]
        assert group["metadata_events"][:].tolist() == [one.metadata_events for one in story]
    with h5py.File(write_hdf5(trace, tmp_path / "b.h5", fs=10, traffic="own").path) as file:
        assert "story" not in file


@pytest.mark.recordings
def test_no_pause_is_told_where_bytes_move_outside_of_phases(recordings):
    trace = open_trace(recordings / "recorders" / "darshan" / "e3sm_io_heatmap_only.darshan")
    story = told(trace)
    for one in story:
        if one.direction is None:
            for name, layer in trace.layers.items():
                moved = layer.bandwidth("write").volume_until([one.start, one.end])
                assert moved[1] - moved[0] <= 0.001 * layer.statistics("write").bytes, name
    checkpoints = [one for one in story if one.kind == "checkpoints"]
    assert all((one.confidence < 0.5) == ("perhaps every" in one.text) for one in checkpoints)


def test_no_pause_is_told_while_a_library_fills_a_file():
    """The program asks for nothing between its input and its log, but netCDF fills the variables by 83.9 MB."""
    trace = open_trace(FIXTURES / "ncckpt4")
    (fill,) = trace.layers["POSIX"].bandwidth("write").volume_until([0.469]).tolist()
    assert fill > 8e7
    kinds = [one.kind for one in told(trace)]
    assert kinds[:2] == ["start-up", "input"]
    assert "pause" not in kinds
