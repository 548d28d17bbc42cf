"""Kinds of files by their names, however long these are."""

import random
import string
import uuid

import pytest
from iostrata.layers.statistics.kinds import file_kinds


def test_numbers_hashes_and_single_letters_differ_within_a_kind():
    names = [
        "run1/dump.10.nc",
        "run1/dump.20.nc",
        "a.restart",
        "b.restart",
        "etilqs_4a09c1f2e",
        "checkpoint0001",
    ]
    assert file_kinds(names) == [
        "run1/dump.*.nc", "run1/dump.*.nc", "*.restart", "*.restart", "etilqs_*", "checkpoint0001",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["xaa", "xab", "xac"], "x*"),
        (["in/part-aaa.csv", "in/part-aab.csv", "in/part-aac.csv"], "in/part-*.csv"),
        (["/tmp/sortpFJ8aB", "/tmp/sort3Qx0bZ", "/tmp/sortLs9gk2"], "/tmp/sort*"),
        (["ckpt-ab12cd.pt", "ckpt-9f03bb.pt", "ckpt-c0ffee.pt"], "ckpt-*.pt"),
        ([".dump.10.nc.x3Kd9Q", ".dump.20.nc.B7aa2F", ".dump.30.nc.1ZmP0r"], ".dump.*.nc.*"),
        (["/t/tmp3kd9x_2a/part1", "/t/tmpq0z_77bf/part2", "/t/tmpzz01mk9_/part1"], "/t/tmp*/part*"),
        (["objects/3f/4", "objects/a0/5", "objects/0b/6", "objects/de/7"], "objects/*/*"),
        (["t=0.5.vtk", "t=10.vtk", "t=1e-05.vtk"], "t=*.vtk"),
        (["run/0/U", "run/0.5/U", "run/1/U", "run/1e-05/U"], "run/*/U"),
        (["part-00000-of-00010", "part-00001-of-00010"], "part-*-of-00010"),
        (["rank.12/step3.dat", "rank.13/step3.dat", "rank.12/step4.dat"], "rank.*/step*.dat"),
        (["data.0001.0.bov", "data.0002.0.bov"], "data.*.0.bov"),
        (["wal-000123", "wal-000124"], "wal-*"),
        ([f"w-{uuid.UUID(int=random.Random(seed).getrandbits(128))}.log" for seed in range(5)], "w-*.log"),
    ],
)
def test_families_of_names_are_one_kind(names, kind):
    assert set(file_kinds(names)) == {kind}


@pytest.mark.parametrize(
    "names",
    [
        ["dump.1", "restart.1"],
        ["TotalEnergy.nc", "CloudyWater.nc"],
        ["outputEnergy", "outputForces"],
        ["SurfTotEne", "SurfCldWat"],
        ["run-v2beta.nc", "run-h2oice.nc"],
        ["era_t2mMax.nc", "era_u10Min.nc"],
        ["geopoten500hPa", "pressure500hPa"],
        ["HDF5vel.h5", "MPI3rho.h5"],
        ["pos/x.1", "vel/x.1"],
        ["data", "beta", "aa"],
        ["xaa", "xyz"],
        ["abc/x", "def/x", "fed/x"],
        ["charge-old", "charge-new"],
        ["tmp_density", "tmp_xvelcty"],
        ["libm-1.2.so", "libc-1.2.so"],
    ],
)
def test_names_of_other_kinds_stay_apart(names):
    assert len(set(file_kinds(names))) == len(names)


@pytest.mark.parametrize("letters", [string.ascii_letters + string.digits, "0123456789abcdef"])
@pytest.mark.parametrize("many", [10, 100, 1000])
def test_random_words_are_one_kind_beside_names_that_are_none(letters, many):
    chance = random.Random(many)
    names = [f"sort{''.join(chance.choices(letters, k=6))}" for _ in range(many)]
    kinds = file_kinds([*names, "sorted", "sort.log", "out10"])
    assert set(kinds[:many]) == {"sort*"}
    assert kinds[many:] == ["sorted", "sort.log", "out10"]


def test_the_order_of_names_does_not_matter():
    names = [f"ck/ckpt-{one}.tmp" for one in ("_05myfgh", "kd93_x2a", "q0z77bf_", "zz01mk9_", "a3kx_77b", "m19vv0w8")]
    for seed in range(20):
        assert set(file_kinds(random.Random(seed).sample(names, k=len(names)))) == {"ck/ckpt-*.tmp"}


@pytest.mark.parametrize("part", ["a", "1", "a1", "a.", "a/1/", "x1y2z3.", "aa."])
def test_a_name_of_a_million_letters_takes_no_quadratic_time(part):
    name = part * (10**6 // len(part))
    one, other = file_kinds([name, f"{name}.txt"])
    assert one != other


def test_names_of_quantities_are_no_random_words_although_some_have_digits():
    """However many there are: of random words each has some changes between letters and digits."""
    words = (
        "residual velocity temp2avg pressure humidity vort3max salinity flux1min charging graupels radiance ozonised"
    )
    names = [f"out/{word}.dat" for word in words.split()]
    assert file_kinds(names) == names
