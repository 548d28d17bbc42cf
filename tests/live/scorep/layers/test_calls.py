"""Calls of libraries as the adapter tells them, without Score-P and without the libraries' headers."""

import importlib.util
import sys
from pathlib import Path

import pytest

from .conftest import Recorded

TOLD = """
nc_create file={data}/a.nc handle=65536
nc_put_vara_double handle=65536 failed=-60 bytes=240 name=v3
nc_put_vara_double handle=65536 bytes=8 name=v0
nc_put_vara_double handle=65536 failed=-49
nc_put_vara_double handle=65536 bytes=880 name=v2
nc_put_var handle=65536 bytes=440
nc_get_var1_text handle=65536 bytes=1 name=v1
nc_put_var_string handle=65536
nc_get_att_int handle=65536 name=units bytes=28
nc_close handle=65536
nc_create_par file=/b.nc handle=65536
nc_put_vara_double handle=65536 bytes=16 name=v1 collective=0
nc_var_par_access handle=65536
nc_put_vara_double handle=65536 bytes=16 collective=1
nc_put_vara_double handle=65536 bytes=48 name=v2 collective=0
nc_close handle=65536
nc_put_vara_double handle=65536 bytes=16 name=v1
*nc_put_vara_double handle=65536 bytes=48 name=v2
fork
"""
"""What `standin/program.c` does: the variable's number is how many dimensions it has, and its name is told where it is
another than before. Range errors (-60) moved all, other failures nothing; strings are pointers to what moves; who was
in parallel once is not so after a close. A function that the library does not have fails, and of the fork's child only
that it was made is told."""


def test_calls_of_a_program(recorded: Recorded, built: Path, tmp_path: Path) -> None:
    done, calls = recorded(str(built / "program"))
    assert (done.returncode, done.stdout) == (0, "sync -1\n")
    assert calls == TOLD.format(data=tmp_path / "data").split("\n")[1:-1]
    assert done.stderr == "iostrata: the program calls nc_sync, which no library has that is loaded\n"


WAITS = """
ncmpi_iput_var_int handle=0 bytes=40 name=v request=0
ncmpi_iput_var_int handle=0 bytes=40 request=1
ncmpi_iput_var_int handle=0 bytes=40 request=2
ncmpi_wait request=0 request=1 handle=0 collective=0
ncmpi_iput_var_int handle=1 bytes=4 name=v request=3
ncmpi_bput_var handle=0 bytes=40 name=v request=4
ncmpi_iget_varn_short handle=0 bytes=8 request=5
ncmpi_wait_all request=2 request=4 handle=0 collective=1
ncmpi_wait_all request=5 handle=0 collective=1
ncmpi_wait_all request=3 handle=1 collective=1
"""


def test_waits_name_what_they_complete(recorded: Recorded, built: Path) -> None:
    """By the numbers that they are given, or all of a file that are pending, or all puts."""
    _, calls = recorded(str(built / "requests"))
    # The order is of no meaning.
    assert [sorted(call.split()) for call in calls] == [sorted(call.split()) for call in WAITS.split("\n")[1:-1]]


@pytest.mark.parametrize(
    ("preloaded", "more", "told"),
    [
        (("adapter.so",), {}, 0),
        (("adapter.so", "standin.so"), {"STANDIN_OFF": "1"}, 0),
        (("standin.so", "adapter.so"), {"STANDIN_FILTER": "nc_put_vara_double"}, 10),
    ],
    ids=["no Score-P", "nothing measured", "a filter"],
)
def test_what_is_not_to_be_recorded_passes(
    recorded: Recorded, built: Path, preloaded: tuple[str, ...], more: dict[str, str], told: int
) -> None:
    done, calls = recorded(str(built / "program"), preloaded=preloaded, **more)
    assert (done.returncode, done.stdout) == (0, "sync -1\n")
    assert len(calls) == told
    assert not [call for call in calls if "nc_put_vara_double" in call]


def test_each_caller_gets_the_library_that_it_is_linked_with(recorded: Recorded, built: Path) -> None:
    """Two of one kind that no global scope knows, and a call that ends in a jump to another function of its library."""
    plugins = [str(built / f"plugin{number}.so") for number in (1, 2)]
    done, calls = recorded(str(built / "opener"), *plugins, *plugins[::-1])
    assert done.stdout.split() == ["1", "2", "2", "1"]
    assert calls == [
        call
        for handle in (65536, 131072, 131072, 65536)
        for call in (f"nc_create file=mem:/x handle={handle}", f"nc_put_var handle={handle} bytes=40 name=v1")
    ]


def test_a_program_that_is_started_by_the_recorded_one(recorded: Recorded, built: Path) -> None:
    """Is recorded, too, unless the environment says what was preloaded before."""
    program = str(built / "program")
    _, calls = recorded(program, "exec")
    assert len(calls) == 1 + len(TOLD.split("\n")) - 2
    done, calls = recorded(program, "exec", IOSTRATA_PRELOAD_BEFORE="")
    assert (done.returncode, len(calls)) == (0, 1)


H5PY = """
import h5py, numpy as np
with h5py.File("x.h5", "w") as f:
    g = f.create_group("g")
    d = g.create_dataset("d", (4, 100), "f4", chunks=(1, 50), compression="gzip")
    d[1] = np.ones(100)
    d[2, 10:20] = np.ones(10, "f4")
    f["scalar"] = 3
    f["text"] = "words of any length"
    d.attrs["units"] = np.arange(3)
with h5py.File("x.h5") as f:
    assert f["g/d"][1:3].sum() == 110
"""


def test_python_on_hdf5(recorded: Recorded) -> None:
    """The library of h5py is opened by the interpreter for h5py alone."""
    done, calls = recorded(sys.executable, "-c", H5PY)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    moved = [call.split() for call in calls if call.startswith(("H5Dwrite", "H5Dread"))]
    bytes_of = [dict(part.split("=") for part in call[1:]).get("bytes") for call in moved]
    # Rows of float64, a part of float32, an integer, a text of unknown length; read as they are in the file.
    assert bytes_of == ["800", "40", "8", None, "800"]
    opened = [call for call in calls if "name=d " in call or "name=g/d " in call]
    assert [call.split()[0] for call in opened] == ["H5Dcreate2", "H5Oopen"]
    files = [call for call in calls if "file=" in call]
    assert [call.split()[0] for call in files] == ["H5Fcreate", "H5Fopen"]
    # Each data set names the file that it is in, although a group lies between.
    for file, data in zip(files, opened, strict=True):
        assert file.split("handle=")[1] == data.split("parent=")[1]
    closed = [call for call in calls if call.startswith(("H5Fclose", "H5Idec_ref"))]
    for file in files:
        assert [call for call in closed if call.endswith(f"handle={file.split('handle=')[1]}")]
    attributes = [call for call in calls if call.startswith("H5Awrite")]
    assert [call.split("bytes=")[1] for call in attributes] == ["24"]


NETCDF = """
import netCDF4, numpy as np
for name, form in ("classic.nc", "NETCDF3_64BIT_DATA"), ("four.nc", "NETCDF4"):
    with netCDF4.Dataset(name, "w", format=form) as f:
        f.createDimension("t", None)
        f.createDimension("x", 50)
        v = f.createVariable("v", "f8", ("t", "x"))
        for t in range(3):
            v[t] = np.ones(50)
    with netCDF4.Dataset(name) as f:
        assert f["v"][1:, ::2].sum() == 50
"""


@pytest.mark.skipif(importlib.util.find_spec("netCDF4") is None, reason="no netCDF4")
def test_python_on_netcdf(recorded: Recorded) -> None:
    done, calls = recorded(sys.executable, "-c", NETCDF)
    assert done.returncode == 0, done.stderr
    moved = [call for call in calls if "bytes=" in call and "att" not in call and "H5A" not in call]
    netcdf = [call for call in moved if not call.startswith(">")]
    expected = ["bytes=400 name=v", "bytes=400", "bytes=400", "bytes=400 name=v"]
    assert [call.split(" ", 2)[2] for call in netcdf] == expected * 2
    # netCDF-4 calls HDF5, where the library lets others see that.
    below = [call for call in moved if call.startswith(">H5D")]
    assert len(below) in (0, 4)
    assert [call.split("bytes=")[1].split()[0] for call in below] == ["400"] * len(below)
