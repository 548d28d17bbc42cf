"""Whole traces: real archives against what their programs measured."""

import json
import pickle

import pytest
from iostrata import SelectionError, TraceError, open_trace
from iostrata.layers.handles.metadata import Origin
from iostrata.layers.selection.files import select_files
from iostrata.model.codes import UNDEFINED_TIME, Status

SOUND = [
    "aperiodic4",
    "ckpt16",
    "ckpt4",
    "ckpt4_compiler",
    "ckpt4_compiler_flush",
    "ckpt4_jitter",
    "ckpt4_linktime",
    "ckpt4_romio",
    "ckpt4_tsc",
    "ckpt8_unnested",
    "ior384",
    "mixed4",
    "ncckpt4",
    "ncckpt4_indep",
    "ncckpt4_nofill",
    "ncckpt4_perstep",
    "ncckpt4_plain",
    "ncckpt4_romio",
    "ncckpt8",
    "nonblocking4",
    "nonblocking4_allgroups",
    "nonblocking4_nodupfd",
    "serial1",
    "small_files2",
    "threads2",
]

NONBLOCKING = [name for name in SOUND if name.startswith("nonblocking")]


@pytest.fixture(scope="module")
def trace(fixtures):
    """Open an archive once."""
    opened = {}

    def get(name):
        if name not in opened:
            opened[name] = open_trace(fixtures / name)
        return opened[name]

    return get


@pytest.fixture
def truth(fixtures):
    return lambda name: json.loads((fixtures / name / "truth.json").read_text())["bytes_by_layer_all_ranks"]


def test_every_sound_archive_of_the_fixtures_is_in_the_list(fixtures):
    there = {path.parent.name for path in fixtures.glob("*/truth.json") if not path.parent.name.startswith("broken")}
    assert there == set(SOUND)


@pytest.mark.parametrize("name", sorted(set(SOUND) - set(NONBLOCKING) - {"threads2"}))
def test_bytes_equal_what_the_program_measured(trace, truth, name):
    layers = trace(name).layers
    measured = truth(name)
    if name == "ncckpt4_plain":
        # The program called netCDF, the measurement did not record it.
        assert "netCDF" not in layers
        del measured["netCDF"]
    assert measured
    for layer, directions in measured.items():
        own = layer == "POSIX_called_by_program"
        for direction in ("read", "write"):
            statistics = layers["POSIX" if own else layer].statistics(direction)
            found = statistics.own_bytes if own else statistics.bytes
            assert (type(found), found) == (int, directions.get(direction, 0)), (layer, direction)


def test_asynchronous_and_plain_writes_of_threads_are_the_programs_own(trace, truth):
    measured = truth("threads2")
    written = measured["POSIX_aio"]["write"] + measured["POSIX_called_by_program"]["write"]
    statistics = trace("threads2").layers["POSIX"].statistics("write")
    assert (statistics.own_bytes, statistics.bytes) == (written, written)


@pytest.mark.parametrize("name", NONBLOCKING)
def test_bytes_of_every_kind_of_call(trace, truth, name):
    measured = truth(name)
    layers = trace(name).layers
    for direction in ("read", "write"):
        assert layers["MPI-IO"].statistics(direction).bytes == measured["MPI-IO"][direction]
    # Four times 7 bytes of what the program writes by POSIX go to stdout.
    asynchronous = measured["POSIX_aio"]
    written = asynchronous["write_not_counting_cancelled_and_last"] + measured["POSIX_called_by_program"]["write"] - 28
    assert layers["POSIX"].statistics("write").own_bytes == written
    read = asynchronous["read"] + measured["POSIX_called_by_program"]["read"]
    assert layers["POSIX"].statistics("read").own_bytes == read
    assert layers["ISOC"].statistics("write").bytes == measured["ISOC_approx"]["write"]
    # What the program counts here is approximate by its own word: one byte a rank less than the trace has.
    assert layers["ISOC"].statistics("read").bytes == measured["ISOC_approx"]["read"] + 4
    # Preallocation writes 4 MiB beneath MPI-IO handles with no MPI-IO operation.
    inherited = layers["POSIX"].bandwidth("write", "inherited").volume
    assert inherited == measured["MPI-IO"]["write"] + 4 * 2**20


def test_bogus_parents_change_nothing(trace):
    first, second = trace("nonblocking4"), trace("nonblocking4_nodupfd")
    assert sum(first.handles.layer_row == first.handles.layer_row[first.handles.parent]) > 0
    assert list(first.layers) == list(second.layers)
    for name, layer in first.layers.items():
        for direction in ("read", "write"):
            mine, twin = (entry.statistics(direction).to_dict() for entry in (layer, second.layers[name]))
            for key in ("operations", "bytes", "own_operations", "own_bytes", "files", "ranks", "request_bytes"):
                assert mine[key] == twin[key], (name, direction, key)


@pytest.mark.parametrize("name", SOUND)
def test_signals_hold_the_bytes_of_the_statistics(trace, name):
    for layer in trace(name).layers.values():
        for direction in layer.directions:
            statistics = layer.statistics(direction)
            assert layer.bandwidth(direction).volume == pytest.approx(statistics.bytes, rel=1e-12)
            assert layer.bandwidth(direction, "own").volume == pytest.approx(statistics.own_bytes, rel=1e-12)
            assert 0 <= statistics.busy_s <= min(statistics.summed_s, trace(name).duration) * (1 + 1e-12)


@pytest.mark.parametrize("name", ["ncckpt4", "nonblocking4", "ior384"])
def test_windows_add_up(trace, name):
    opened = trace(name)
    edge = opened.duration * 0.37
    parts = [opened.select(window=(None, edge)), opened.select(window=(edge, None))]
    for layer in opened.layers.values():
        for direction in layer.directions:
            whole = layer.statistics(direction)
            split = [part.layers[layer.name].statistics(direction) for part in parts]
            assert sum(part.bytes for part in split) == pytest.approx(whole.bytes, rel=1e-12)
            assert sum(part.own_bytes for part in split) == pytest.approx(whole.own_bytes, rel=1e-12)
            # An operation never completed lasts to the end of the window, so neither busy time is lost nor doubled.
            assert sum(part.busy_s for part in split) == pytest.approx(whole.busy_s, rel=1e-12)
    again = parts[0].select(window=(None, None))
    assert again.window == opened.window


def test_a_pattern_selects_files(trace):
    checkpoints = trace("ckpt4").select(files="*/ckpt_000[0-4].dat")
    assert checkpoints.layers["MPI-IO"].statistics("write").files == 5
    assert checkpoints.layers["POSIX"].statistics("write").bytes == 5 * 8388608
    assert checkpoints.layers["ISOC"].directions == ()
    assert checkpoints.select(files="application").set_aside == trace("ckpt4").set_aside
    with pytest.raises(SelectionError):
        trace("ckpt4").select(files="*.zarr")


def test_handles_of_real_traces_have_lives(trace):
    forest = trace("nonblocking4").handles
    lives = forest.lifetimes
    # The archive's manifest counts 668 creations, 16 duplications and 676 destructions.
    assert (lives.origin == Origin.CREATED).sum() == 668
    assert (lives.origin == Origin.DUPLICATED).sum() == 16
    assert (lives.destroyed != UNDEFINED_TIME).sum() == 676
    assert lives.epoch.max() > 0
    rows = forest.to_dict()
    streams = [row for row in rows if row["name"] == "STDOUT_FILENO"]
    assert len(streams) == 1
    assert streams[0]["precreated"]
    assert not streams[0]["created"]
    assert streams[0]["set_aside"]
    unfinished = trace("nonblocking4").layers["POSIX"].operations.status == Status.NEVER_COMPLETED
    assert unfinished.sum() == 12


def test_what_a_trace_tells_of_itself(trace):
    opened = trace("ckpt4")
    assert (opened.ranks, opened.definitions.node_count, opened.definitions.locations.id.size) == (4, 2, 12)
    assert opened.tally.events == 14360
    assert opened.window == (0.0, opened.duration)
    assert opened.files == "application"
    assert not opened.damage.damaged
    assert "4 ranks on 2 nodes" in repr(opened)
    assert "MPI-IO, ISOC, POSIX" in repr(opened)
    assert opened.path.name == "traces.otf2"
    assert opened.tally.unmatched == 0
    copied = pickle.loads(pickle.dumps(opened))
    assert copied.layers["POSIX"].statistics("write") == opened.layers["POSIX"].statistics("write")


def test_a_damaged_trace_gives_what_is_sound(trace, truth):
    name = "broken_race_corruption"
    opened = trace(name)
    assert opened.damage.damaged
    assert "damaged" in repr(opened)
    written = opened.layers["MPI-IO"].statistics("write").bytes
    assert 0 < written < truth(name)["MPI-IO"]["write"]
    assert opened.window == (0.0, opened.duration)


def test_options_that_make_no_sense_are_refused(fixtures):
    with pytest.raises(SelectionError, match="with memory="):
        open_trace(fixtures / "ckpt4", fs=10.0)
    with pytest.raises(SelectionError, match="memory"):
        open_trace(fixtures / "serial1", memory=10**6)
    with pytest.raises(SelectionError, match="outside"):
        open_trace(fixtures / "serial1", window=(100.0, 200.0))
    with pytest.raises(SelectionError, match="no file"):
        open_trace(fixtures / "serial1", files="*.zarr")
    with pytest.raises(TraceError):
        open_trace(fixtures / "no_such_trace")


def test_rules_can_be_replaced(fixtures):
    opened = open_trace(fixtures / "serial1", rules=[("*.log", "logs")])
    assert opened.layers["ISOC"].directions == ()
    assert opened.set_aside.reasons["*.log: logs"] == len(opened.select(files="*.log").layers["ISOC"].operations)
    assert (
        opened.scope.selection.handle_reason
        == select_files(opened.definitions, rules=opened.scope.selection.rules).handle_reason
    ).all()


@pytest.mark.parametrize("length", [2**62, 2**63, 2**64 - 1])
def test_a_clock_without_a_believable_length_ends_with_the_last_operation(make_trace, length):
    operations = [{"begin": 10, "end": 50, "moved": 80}, {"begin": 70, "end": None}]
    opened = make_trace([("POSIX", "/f", -1)], operations, length=length)
    assert (opened.duration, opened.window) == (0.7, (0.0, 0.7))
    assert opened.select(window=(0, 0.3)).duration == 0.7
    posix = opened.layers["POSIX"]
    assert posix.bandwidth("write").volume == posix.statistics("write").bytes == 80
    assert opened.handles.bytes_written.tolist() == [80]
    assert posix.in_flight().window == (0.0, 0.7)
    assert "0.7 s" in repr(opened)


def test_events_without_an_operation_are_counted(tmp_path):
    import otf2

    with otf2.writer.open(str(tmp_path / "run"), timer_resolution=1000) as writer:
        make = writer.definitions
        node = make.system_tree_node("node")
        group = make.location_group("rank", otf2.LocationGroupType.PROCESS, node)
        paradigm = make.io_paradigm("POSIX", "POSIX I/O", otf2.IoParadigmClass.SERIAL, otf2.IoParadigmFlag.OS, {})
        file = make.io_regular_file("/scratch/data", node)
        handle = make.io_handle("h", file, paradigm, otf2.IoHandleFlag.NONE, None, None)
        thread = writer.event_writer("thread", group=group)
        none = otf2.IoOperationFlag.NONE
        thread.io_operation_complete(1, handle, 5, 1)
        thread.io_operation_issued(2, handle, 1)
        thread.io_operation_begin(3, handle, otf2.IoOperationMode.WRITE, none, 5, 1)
        thread.io_operation_complete(4, handle, 5, 1)
    opened = open_trace(tmp_path / "run", engine="library")
    assert opened.tally.unmatched == 2
    assert opened.layers["POSIX"].statistics("write").bytes == 5


def test_operations_outside_the_trace_extend_the_window(make_trace):
    opened = make_trace([("POSIX", "/f", -1)], [{"begin": -5, "end": 5, "moved": 10}], length=100)
    assert opened.window == (-0.05, 1.0)
    assert opened.duration == 1.0
    assert opened.layers["POSIX"].bandwidth("write").volume == 10
    assert opened.select(window=(0, 1)).layers["POSIX"].statistics("write").bytes == 5


@pytest.mark.parametrize("first", ["/proc/self/maps", "/s/a", None])
def test_set_aside_are_the_files_that_were_used_and_operations_without_a_file(make_trace, first):
    names = [first, "/s/b", "/proc/cpuinfo", "/proc/unused", None]
    handles = [("POSIX", name, -1) for name in names]
    trace = make_trace(handles, [{"handle": row, "begin": row, "end": row + 1, "moved": 10} for row in (0, 0, 1, 2, 4)])
    aside = trace.set_aside
    used = [first, first, names[2], names[4]]
    expected = [name for name in used if name is None or name.startswith("/proc")]
    assert (aside.operations, aside.bytes) == (len(expected), 10 * len(expected))
    assert aside.files == len(set(expected) - {None})


def test_whether_anything_counts_is_mostly_known_before_anything_is_summed_up(fixtures):
    """A warning that nothing counts made `iostrata loops` add up all that `layers` shows."""
    trace = open_trace(fixtures / "ckpt4")
    assert trace.begins_with_what_counts()
    assert "operations" not in vars(trace.sums)
    assert not open_trace(fixtures / "ckpt4", memory=400_000_000).begins_with_what_counts()
