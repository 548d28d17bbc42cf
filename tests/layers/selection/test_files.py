"""Which files are the application's."""

import numpy as np
import pytest
from iostrata import SelectionError
from iostrata.layers.selection.files import DEFAULT_RULES, FileRule, select_files

ASIDE = [
    "/proc/self/maps",
    "/proc",
    "/sys/devices/system/cpu/online",
    "/dev/shm/vader_segment.n1.1000.7.0",
    "/etc/openmpi/openmpi-mca-params.conf",
    "/usr/lib/x86_64-linux-gnu/pmix2/share/pmix-mca-params.conf",
    "/lib64/libc.so.6",
    "/opt/conda/lib/python3.11/__pycache__/enum.cpython-311.pyc",
    "/opt/conda/lib64/python3.13t/json/decoder.py",
    "/opt/modules/h5py/site-packages/h5py/h5.so",
    "/home/ada/model/__pycache__/grid.cpython-311.pyc",
    "/home/ada/model/run.py",
    "/home/ada/venv/pyvenv.cfg",
    "/tmp/ompi.n1.1000/pid.77/1/out.dat_cid-0-77.sm",
    "/scratch/job7/tmp/ompi.n1.1000/pid.77/contact.txt",
    "/scratch/run/state.dat.locktest.3",
    "/scratch/run/nb.dat_cid-0-21131.sm",
    "/var/run/pmix_dstor_12/data",
    "pipe:[4711]",
    "socket:[4711]",
    "anon_inode:[eventpoll]",
]
KEPT = [
    "/scratch/run/ckpt_0001.dat",
    "/home/ada/etc/settings.txt",
    "/home/ada/usr/input.nc",
    "/process/data.h5",
    "/home/ada/lib/pythonic.dat",
    "/home/ada/model/run.pyx.h5",
    "/system/out.bin",
    "/library/mesh.cdf",
    "/devel/out.nc",
    "/tmp/out.dat",
    "out.nc",
    "/scratch/run/mesh.smooth",
    "/scratch/run/locktest.c",
]


@pytest.mark.parametrize("name", ASIDE)
def test_files_of_the_system_and_the_mpi_runtime_are_set_aside(make_definitions, name):
    # Beneath an MPI-IO handle too, as the shared-memory files of the MPI library are.
    definitions = make_definitions([("MPI-IO", "/scratch/out.dat", -1), ("POSIX", name, 0)])
    assert select_files(definitions).selected.tolist() == [True, False]
    assert select_files(definitions, "all").selected.all()


@pytest.mark.parametrize("name", KEPT)
def test_all_other_files_are_the_applications(make_definitions, name):
    assert select_files(make_definitions([("POSIX", name, -1)])).selected.all()


def test_each_rule_sets_something_aside_and_says_why(make_definitions):
    names = [*ASIDE, "<STDOUT>", "<STDIN> or <STDOUT>", "/lib/x", "/lib32/x", "/libx32/x"]
    selection = select_files(make_definitions([("POSIX", name, -1) for name in names]))
    found = {selection.reasons[row] for row in selection.handle_reason}
    assert {rule for rule in DEFAULT_RULES if rule not in found} == set()
    assert all(rule.reason for rule in DEFAULT_RULES)
    assert selection.reasons[selection.handle_reason[names.index("/proc")]].pattern == "/proc"


def test_handles_without_a_file_are_set_aside(make_definitions):
    definitions = make_definitions([("ISOC", None, -1), ("POSIX", "/f", -1)])
    selection = select_files(definitions)
    assert selection.selected.tolist() == [False, True]
    assert "without a file" in selection.reasons[selection.handle_reason[0]].reason
    assert select_files(definitions, "all").selected.tolist() == [True, True]
    assert select_files(definitions, "*").selected.tolist() == [False, True]


def test_handles_of_no_layer_are_set_aside_always(make_definitions):
    definitions = make_definitions([(None, "/f", -1)])
    for files in ("application", "all", "/f"):
        assert not select_files(definitions, files).selected.any()


def test_a_pattern_replaces_the_rules(make_definitions):
    definitions = make_definitions([("POSIX", name, -1) for name in ("/proc/stat", "/s/a.nc", "/s/b.dat", "/s/A.nc")])
    assert select_files(definitions, "*.nc").selected.tolist() == [False, True, False, True]
    assert select_files(definitions, "/proc/*").selected.tolist() == [True, False, False, False]
    assert select_files(definitions, "/s/[a-b].*").selected.tolist() == [False, True, True, False]
    assert select_files(definitions, "/s/a.nc").file_reason.tolist() == [0, -1, 0, 0]


def test_a_pattern_that_nothing_matches_is_refused(make_definitions):
    definitions = make_definitions([("POSIX", "/f", -1)])
    for files, words in (("*.zarr", "zarr"), ("", "files ''"), (5, "files 5: give")):
        with pytest.raises(SelectionError, match=words):
            select_files(definitions, files)


def test_the_table_can_be_replaced(make_definitions):
    definitions = make_definitions([("POSIX", "/proc/stat", -1), ("POSIX", "/s/log/a", -1), ("POSIX", "/s/logs", -1)])
    rules = [FileRule("/s/log", "logs"), ("*/a", "never first")]
    selection = select_files(definitions, rules=rules)
    assert selection.selected.tolist() == [True, False, True]
    assert selection.reasons[selection.handle_reason[1]].reason == "logs"
    assert select_files(definitions, rules=()).selected.all()


def test_no_files_at_all(make_definitions):
    definitions = make_definitions([("POSIX", None, -1)])
    assert select_files(definitions).handle_reason.dtype == np.int32
    assert not select_files(definitions, "*").selected.any()
