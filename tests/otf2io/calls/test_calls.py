"""Calls of libraries as layers: against archives whose I/O records say the same, and made by hand."""

import itertools
import runpy
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import Trace, open_trace
from iostrata.model.codes import UNDEFINED_UINT64, IoFlag, IoRecord, Status
from iostrata.model.operations import Operations
from iostrata.model.stream.columns import CollectedOperations
from iostrata.otf2io.calls.functions import Kind, called_functions, plain_name
from iostrata.otf2io.source import open_source

FOUR_LAYERS = ("ncckpt4", "ncckpt4_perstep", "ncckpt4_indep")
FUNCTIONS = (
    "nc_create", "nc_open", "nc_close", "nc_put_vara_double", "nc_get_vara_int", "nc_sync", "H5Fopen", "H5Dopen2",
    "H5Dwrite", "H5Dread", "H5Aopen", "ncmpi_open", "ncmpi_iput_vara", "ncmpi_wait_all", "ncmpi_put_vara_all", "main",
)  # fmt: skip


@pytest.fixture(scope="session")
def tool() -> SimpleNamespace:
    """Return what writes archives of calls."""
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "archives" / "calls.py")))


@pytest.fixture
def written(tool: Any, tmp_path: Path, plain_definitions: Callable[..., Any]) -> Callable[..., Path]:
    """Return a function that writes threads of calls, as lists of function or None (Leave) and parameters."""
    numbers = itertools.count()

    def write(*threads: Sequence[Any], groups: Sequence[int] | None = None, names: Sequence[str] = FUNCTIONS) -> Path:
        texts, events = tool.Texts(), []
        for thread in threads:
            rows: list[Any] = []
            open_calls: list[int] = []
            for time, (name, told) in enumerate(thread, 1):
                if name is not None:
                    open_calls.append(names.index(name))
                    rows.append(("Enter", 10 * time, (open_calls[-1],)))
                rows += tool.told(texts, 10 * time + 1, **told)
                if name is None:
                    rows.append(("Leave", 10 * time + 2, (open_calls.pop() if open_calls else 0,)))
            events.append(rows)
        definitions = plain_definitions(range(len(threads)), groups or range(len(threads)), ())
        folder = tmp_path / f"calls{next(numbers)}"
        return tool.CallArchive(definitions, dict(enumerate(names)), events, texts).write(folder)  # type: ignore[no-any-return]

    return write


def told(**parameters: Any) -> tuple[None, dict[str, Any]]:
    """Return a Leave with parameters."""
    return None, parameters


def enter(name: str, /, **parameters: Any) -> tuple[str, dict[str, Any]]:
    """Return an Enter with parameters."""
    return name, parameters


def both(path: Path, calls: str = "auto") -> Trace:
    """Open a trace by both engines, which give the same rows and handles."""
    direct, library = (open_trace(path, engine=engine, calls=calls) for engine in ("direct", "library"))
    for column in fields(Operations):
        mine, theirs = (getattr(one.operations, column.name) for one in (direct, library))
        np.testing.assert_array_equal(mine, theirs, err_msg=column.name)
    for name in ("kind", "time", "handle", "location"):
        mine, theirs = (getattr(one.stream.kept.other_events, name) for one in (direct, library))
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(direct.definitions.handles.parent, library.definitions.handles.parent)
    assert direct.definitions.files.name == library.definitions.files.name
    return direct


def numbers_of(trace: Trace) -> dict[Any, Any]:
    """Return the numbers of layers and of what became of each in those below."""
    layers = {
        (layer.name, way): layer.statistics(way).to_dict()
        for layer in trace.layers.values()
        for way in layer.directions
    }
    return layers | {(one.upper, one.lower, one.direction): one.to_dict() for one in trace.flows}


@pytest.mark.parametrize("name", FOUR_LAYERS)
def test_calls_give_the_numbers_of_the_records_that_they_replace(
    name: str, fixtures: Path, tool: Any, tmp_path: Path
) -> None:
    trace = both(tool.write_layers_as_calls(fixtures / name, tmp_path / name))
    assert trace.definitions.recording.called == ("netCDF", "HDF5")
    recorded = open_trace(fixtures / name)
    assert trace.order == recorded.order
    assert numbers_of(trace) == numbers_of(recorded)
    unmatched = open_trace(tmp_path / name, calls="off")
    assert set(unmatched.layers) == {"MPI-IO", "ISOC", "POSIX"}


def test_calls_without_parameters_have_at_least_the_bytes_below(fixtures: Path, tool: Any, tmp_path: Path) -> None:
    trace = both(tool.write_layers_as_calls(fixtures / "ncckpt4", tmp_path / "plain", parameters=False))
    for name in ("netCDF", "HDF5"):
        found = trace.layers[name].statistics("write").to_dict()
        known = open_trace(fixtures / "ncckpt4").layers[name].statistics("write")
        assert found["bytes"] is None
        assert found["bytes_at_least"] == known.bytes
        assert (found["operations"], found["files"]) == (known.operations, known.files)


def test_rewritten_calls_are_records_with_the_same_numbers(fixtures: Path, tool: Any, tmp_path: Path) -> None:
    from iostrata.export.timeline.otf2_markers import write_otf2

    trace = open_trace(tool.write_layers_as_calls(fixtures / "ncckpt4", tmp_path / "calls"))
    write_otf2(trace, tmp_path / "records.otf2")
    again = open_trace(tmp_path / "records.otf2")
    assert numbers_of(again) == numbers_of(trace)
    assert again.definitions.recording.called == ("netCDF", "HDF5")


def test_a_library_with_records_of_its_own_keeps_them() -> None:
    regions = [(1, "H5Dwrite", 1), (2, "nc_put_var_int", 1), (3, "read", 1), (4, "write", 27), (5, "main", 1)]
    found = called_functions(regions, {7: "iostrata:bytes", 8: "other"}, ["HDF5"])
    assert found is not None
    assert found.region.tolist() == [2, 4]
    assert found.parameter.tolist() == [7]
    assert called_functions(regions, {}, ["HDF5", "netCDF", "POSIX"]) is None


def test_of_libraries_with_records_what_transfers_may_be_wanted() -> None:
    regions = [(1, "H5Dwrite", 1), (2, "read", 27), (3, "open", 27), (4, "nc_open", 1)]
    found = called_functions(regions, {}, ["HDF5", "POSIX"], every=True)
    assert found is not None
    assert (found.region.tolist(), found.beside.tolist()) == ([1, 2, 4], [True, True, False])


def without_record(path: Path, names: Sequence[str]) -> int:
    """Count the calls of functions of POSIX between whose Enter and Leave nothing is recorded."""
    source, count = open_source(path, "direct"), 0
    wanted = [one for one, name in zip(source.regions.id.tolist(), source.regions.name, strict=True) if name in names]
    for partition in source.partitions(1, 1):
        for batch in source.calls(partition):
            one = batch.regions
            leaf = (one.region[:-1] == one.region[1:]) & one.enter[:-1] & ~one.enter[1:]
            count += int((leaf & (one.position[:-1] == one.position[1:]) & np.isin(one.region[:-1], wanted)).sum())
    return count


@pytest.mark.parametrize("name", ["ckpt4", "stock/ncckpt2", "serial1"])
def test_calls_beside_records_count_once(name: str, fixtures: Path) -> None:
    recorded, every = (open_trace(fixtures / name, calls=calls) for calls in ("auto", "all"))
    forms = "{0} {0}v p{0} p{0}64 p{0}v p{0}v64"
    alone = {way: without_record(fixtures / name, forms.format(way).split()) for way in ("read", "write")}
    for layer, way in itertools.product(recorded.layers, alone):
        ours, theirs = (one.layers[layer].statistics(way) for one in (every, recorded))
        assert ours.bytes == theirs.bytes
        assert ours.operations == theirs.operations + (alone[way] if layer == "POSIX" else 0)
    both(fixtures / name, "all")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("nc_sync", "nc_sync"),
        ("int nc_put_vara(int, int, const size_t *) C", "nc_put_vara"),
        ("read()", "read"),
        ("H5Dwrite [{app.c} {12,1}]", "H5Dwrite"),
        ("", ""),
    ],
)
def test_names_come_without_what_tracers_write_around_them(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_what_functions_do_is_known_by_their_names() -> None:
    names = {
        "nc_put_vara_double": Kind.WRITE, "nc_get_var_chunk_cache": Kind.OTHER, "nc_put_att_text": Kind.OTHER,
        "H5Dwrite_multi": Kind.WRITE, "H5Dopen2": Kind.OPEN, "H5Awrite": Kind.OTHER, "ncmpi_iget_varn": Kind.READ,
        "MPI_File_write_all_end": Kind.OTHER, "MPI_File_iread_at": Kind.READ, "adios2_put": Kind.WRITE,
    }  # fmt: skip
    found = called_functions([(row, name, 1) for row, name in enumerate(names)], {}, ())
    assert found is not None
    assert found.kind.tolist() == list(names.values())


def test_handles_files_and_bytes_come_from_parameters(written: Callable[..., Path]) -> None:
    thread = [
        enter("nc_create"), enter("H5Fopen"), told(file="/d/out.nc", handle=7), told(file="/d/out.nc", handle=1),
        enter("H5Dopen2", parent=7, name="t"), told(handle=8),
        enter("nc_put_vara_double", bytes=100), enter("H5Aopen"), told(handle=3, failed=-1),
        enter("H5Dwrite"), told(bytes=90, handle=8, collective=1), told(handle=1),
        enter("nc_get_vara_int"), told(bytes=5, handle=99), enter("nc_close"), told(handle=1),
    ]  # fmt: skip
    trace = both(written(thread, thread))
    one = trace.operations
    assert sorted(one.moved.tolist()) == [5, 5, 90, 90, 100, 100]
    assert (one.status == Status.COMPLETE).all()
    assert one.flags[one.moved == 90].tolist() == [IoFlag.COLLECTIVE] * 2
    handles, files = trace.definitions.handles, trace.definitions.files.name
    (data_set,) = np.unique(one.handle[one.moved == 90])
    assert handles.name[data_set] == "t"
    file = handles.parent[data_set]
    assert files[handles.file[data_set]] == files[handles.file[file]] == "/d/out.nc"
    assert handles.parent[file] == np.unique(one.handle[one.moved == 100])
    assert handles.file[one.handle[one.moved == 5]].tolist() == [-1, -1]
    assert trace.flow("netCDF", "HDF5", "write").amplification == 0.9
    assert trace.flow("netCDF", "HDF5", "write").attributed_bytes == 180
    assert trace.layers["netCDF"].statistics("read").bytes == 10


def test_a_call_that_failed_moved_and_opened_nothing(written: Callable[..., Path]) -> None:
    thread = [
        enter("nc_open"), told(file="/d/a.nc", failed=-2), enter("nc_put_vara_double"), told(failed=-1),
        enter("nc_put_vara_double"), told(failed=-60, bytes=8),
    ]  # fmt: skip
    trace = both(written(thread))
    assert trace.operations.moved.tolist() == [0, 8]
    assert not len(trace.stream.kept.other_events)


def test_only_the_outermost_call_of_a_library_counts(written: Callable[..., Path]) -> None:
    inner = [enter("nc_put_vara_double"), told(bytes=30)]
    trace = both(written([enter("nc_put_vara_double"), *inner, *inner, told()]))
    assert trace.operations.moved.tolist() == [60]


def test_non_blocking_calls_end_with_the_wait_that_names_them(written: Callable[..., Path]) -> None:
    post = [enter("ncmpi_iput_vara"), told(bytes=10, request=0), enter("ncmpi_iput_vara"), told(bytes=20, request=-3)]
    trace = both(written([*post, enter("ncmpi_wait_all", request=0), told()], [enter("main"), told()], groups=[0, 0]))
    one = trace.operations
    assert one.moved.tolist() == [10, UNDEFINED_UINT64]
    assert one.status.tolist() == [Status.COMPLETE, Status.NEVER_COMPLETED]
    assert (one.flags & IoFlag.NON_BLOCKING > 0).all()
    assert one.end[0] == 62
    waits_elsewhere = both(written(post, [*[enter("main"), told()] * 4, *_wait(0), *_wait(-3)], groups=[0, 0]))
    assert waits_elsewhere.operations.moved.tolist() == [10, 20]


def _wait(request: int) -> list[Any]:
    return [enter("ncmpi_wait_all"), told(request=request)]


def test_numbers_are_used_again_after_a_close(written: Callable[..., Path]) -> None:
    thread = [
        step
        for file in ("/d/a.nc", "/d/b.nc")
        for step in (
            enter("nc_create"), told(file=file, handle=65536), enter("nc_put_vara_double"), told(bytes=1, handle=65536),
            enter("nc_close"), told(handle=65536),
        )
    ]  # fmt: skip
    trace = both(written(thread))
    names = trace.definitions.files.name
    assert [names[row] for row in trace.definitions.handles.file[trace.operations.handle]] == ["/d/a.nc", "/d/b.nc"]
    kinds = trace.stream.kept.other_events.kind.tolist()
    assert kinds == [IoRecord.CREATE_HANDLE, IoRecord.DESTROY_HANDLE] * 2


STEPS = st.lists(
    st.tuples(
        st.sampled_from([None, None, *FUNCTIONS]),
        st.fixed_dictionaries(
            {},
            optional={
                "bytes": st.sampled_from([0, 1, 2**20, 2**48 + 1, 2**63, 2**64 - 1]),
                "handle": st.sampled_from([-1, 0, 1, 65536, -(2**63)]),
                "parent": st.sampled_from([0, 1, 65536]),
                "file": st.sampled_from(["/d/a", "a", "", "\0", "../x\n", "ü" * 300]),
                "name": st.sampled_from(["v", "w"]),
                "collective": st.integers(0, 2),
                "request": st.integers(-1, 2),
                "failed": st.integers(-1, 1),
            },
        ),
    ),
    max_size=40,
)


@given(threads=st.lists(STEPS, min_size=1, max_size=3), together=st.booleans())
def test_any_calls_are_read_alike(written: Callable[..., Path], threads: list[Any], together: bool) -> None:
    # What is left without being entered names a region of its own; the file's names may be anything but a NUL.
    steps = [
        [(name, {**more, **({"file": "f"} if more.get("file") == "\0" else {})}) for name, more in one]
        for one in threads
    ]
    path = written(*steps, groups=[0] * len(steps) if together else None)
    trace = both(path)
    source = open_source(path, "direct", "auto")
    moved = trace.operations.bytes_moved.sum()
    # In any order of blocks, and cut where operations are in flight.
    collected = CollectedOperations(source.definitions)
    for partition in reversed(source.partitions(1, 1)):
        for block in source.read(partition):
            collected.add(block)
    assert collected.operations().bytes_moved.sum() == moved
    assert sum(one.statistics(way).bytes for one in trace.layers.values() for way in one.directions) == moved
