"""Operations with a shared file pointer are not collective, whatever the recorder says."""

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.otf2io import source
from otf2.enums import IoOperationFlag, IoOperationMode

from tests.analysis.conftest import Written

WRITE, TOGETHER = IoOperationMode.WRITE, IoOperationFlag.COLLECTIVE


@pytest.mark.parametrize("engine", ["direct", "library"])
@pytest.mark.parametrize("calls", ["off", "all"])
def test_a_shared_file_pointer_makes_no_collective_operation(tmp_path, engine, calls):
    written = Written(tmp_path / "made")
    handle = written.handle(written.file("/s/log"), written.mpi)
    names = ["write_shared", "write_ordered", "iwrite_shared", "write_all", "write_at", "read_shared"]
    for place, name in enumerate(names):
        begin = 1_000 * place
        for rank in range(2):
            written.call(rank, f"MPI_File_{name}", begin, begin + 900)
            written.operate(rank, handle, WRITE, begin + 100, begin + 800, 64, TOGETHER)
    written.closed()
    trace = open_trace(written.folder, engine=engine, calls=calls)
    table = trace.to_dataframe()
    flags = table.sort_values(["rank", "begin_s"])["collective"].to_numpy()
    assert flags.tolist() == 2 * [False, True, False, True, True, False]
    np.testing.assert_array_equal(flags[:6], flags[6:])


def test_in_archives_that_are_too_large_the_recorder_is_believed(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "_LOOKED_AT", 3)
    written = Written(tmp_path / "made")
    handle = written.handle(written.file("/s/log"), written.mpi)
    written.call(0, "MPI_File_write_shared", 0, 900)
    written.operate(0, handle, WRITE, 100, 800, 64, TOGETHER)
    written.closed()
    assert open_trace(written.folder).to_dataframe()["collective"].all()
