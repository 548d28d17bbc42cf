"""What is told of a recording when its program is over."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.live.recorded import faults_of, flushes_of, layers_in, memory_of
from iostrata.live.recording import check_archive, ending
from iostrata.model.errors import RecordingError


def test_flushes_of_a_full_buffer_are_found(fixtures: Path) -> None:
    trace = open_trace(fixtures / "ckpt4_compiler_flush")
    flushes = flushes_of(trace)
    assert flushes is not None
    assert (flushes.count, flushes.processes) == (4, 4)
    assert 0.001 < flushes.longest_s < 0.01
    largest = max(path.stat().st_size for path in (fixtures / "ckpt4_compiler_flush" / "traces").glob("*.evt"))
    assert flushes.memory > largest
    (told,) = faults_of(trace, [])
    assert "it wrote the trace 4 times while the program ran, on 4 processes" in told
    assert f"SCOREP_TOTAL_MEMORY={-(-flushes.memory // 2**20)}M is enough" in told


def test_nothing_is_told_of_what_is_whole(fixtures: Path) -> None:
    trace = open_trace(fixtures / "stock" / "ncckpt2")
    assert flushes_of(trace) is None
    assert list(faults_of(trace, ["mpirun", sys.executable])) == []
    told = layers_in(trace)
    assert told.startswith("Recorded of 2 processes: netCDF, HDF5, MPI-IO")
    assert told.endswith("no call of PnetCDF, ADIOS")


def test_a_program_with_functions_that_were_not_recorded(
    fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "app"
    program.write_bytes(b"\x7fELF\0MPI_File_write_at\0H5Dwrite\0")
    program.chmod(0o755)
    monkeypatch.setenv("SCOREP_MPI_ENABLE_GROUPS", "cg,p2p")
    serial = open_trace(fixtures / "serial1")
    hdf5, mpi = faults_of(serial, ["mpirun", str(program)])
    assert hdf5.startswith("app has functions of HDF5, but no call of them was recorded")
    assert mpi.endswith("SCOREP_MPI_ENABLE_GROUPS is without io")


def test_children_whose_calls_are_not_recorded_are_told(fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = open_trace(fixtures / "stock" / "ncckpt2")
    calls = trace.calls.totals
    assert calls is not None
    known = calls.functions
    parent, region, *_ = calls.tree.columns
    row = next(one for one in np.flatnonzero(parent >= 0) if np.count_nonzero(region == region[one]) == 1)
    for caller, told in (
        ("main", ["the program forks: what its children read and write is not recorded"]),
        ("MPI_Init", []),
    ):
        names = list(known.regions.name)
        names[region[row]], names[region[parent[row]]] = "fork", caller
        regions = replace(known.regions, name=tuple(names))
        monkeypatch.setattr(calls, "functions", replace(known, regions=regions))
        assert list(faults_of(trace, [])) == told


@pytest.mark.parametrize(("text", "size"), [("256M", 2**28), ("200k", 200 << 10), ("1gb", 2**30), ("12", 12), ("x", 0)])
def test_memory_as_score_p_reads_it(text: str, size: int) -> None:
    assert memory_of(text) == size


def test_why_there_is_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREP_TOTAL_MEMORY", "1M")
    with pytest.raises(RecordingError, match=r"did not begin.*SCOREP_TOTAL_MEMORY is too small, take 16M"):
        check_archive(tmp_path / "never")
    with pytest.raises(RecordingError, match=r"began in .* but left no trace"):
        check_archive(tmp_path)
    # A program that fails, or that Score-P aborts, need not be of another MPI.
    with pytest.raises(RecordingError, match="what the program or Score-P says above is why"):
        check_archive(tmp_path / "never", 134)


def test_how_a_program_ended() -> None:
    assert [ending(code) for code in (3, 134)] == ["ended with 3", "ended with 134 (SIGABRT)"]
