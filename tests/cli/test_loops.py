"""``iostrata loops``: what the program does, on one screen, and the slowest iteration."""

import re

import pytest

NETCDF_LAYERS = ["netCDF", "HDF5", "MPI-IO", "POSIX"]


def test_the_tree(run, fixtures):
    text = run("loops", fixtures / "ckpt4").stdout
    assert "20 × (open" in text
    assert "write 2 MiB" in text
    assert "80 × (write 59 B" in text
    assert "like a clock" in text


def test_the_iterations(run, run_on_terminal, fixtures):
    text = run("loops", fixtures / "ncckpt4", "--iterations").stdout
    heads = [line.split() for line in text.splitlines() if line.split()[:1] == ["begin"]]
    titles = ["begin", "to", "next", "length", "moved"]
    assert heads == [[*titles, "ISOC"], [*titles, *NETCDF_LAYERS]]
    (first,) = (line for line in text.splitlines() if re.match(r" *1  .* 4\.19 MB ", line))
    # Of each layer how long it was busy, with the slowest rank.
    assert re.fullmatch(r" *1( +\S+ \S+){3} +4\.19 MB( +[\d.]+ ms +\d){4}", first)
    # On a terminal, when the next one begins gives way to four layers.
    narrow = run_on_terminal(80, "loops", fixtures / "ncckpt4", "--iterations", LINES="400").splitlines()
    assert any("POSIX" in line and "begin" in line and "to next" not in line for line in narrow)
    assert len([line for line in text.splitlines() if line.startswith(tuple("0123456789 *"))]) >= 100
    numbers = [int(found[1]) for line in text.splitlines() if (found := re.match(r" *\*?(\d+) +[\d.]+ m?s  ", line))]
    assert numbers == [*range(1, 81), *range(1, 21)]


@pytest.mark.parametrize("archive", ["ckpt4", "aperiodic4"])
def test_the_document(document, fixtures, archive):
    found = document("loops", fixtures / archive)
    assert list(found)[:2] == ["schema_version", "trace"]
    assert isinstance(found["loops"], list)


def test_streams_are_told_one_by_one(run, document, fixtures):
    text = run("loops", fixtures / "ckpt4", "--by", "stream").stdout
    assert "ckpt_*.dat  20 files, 168 MB written in MPI-IO; 168 MB written in POSIX" in " ".join(text.split("\n"))
    found = document("loops", fixtures / "ckpt4", "--by", "stream")
    streams = {one["file"].rpartition("/")[2]: one for one in found["streams"]}
    counts = {one["id"]: one["count"] for one in found["loops"]}
    assert [counts[one] for one in streams["ckpt_*.dat"]["loops"]] == [20]
    assert [counts[one] for one in streams["run.log"]["loops"]] == [80]
    assert sum(one["layers"].get("ISOC", {}).get("bytes_written", 0) for one in streams.values()) == 80 * 59


def test_nothing_repeats(run, fixtures):
    assert "repeats" in run("loops", fixtures / "aperiodic4").stdout


def test_the_longest_iteration_has_a_layer_and_a_rank(run, fixtures):
    text = " ".join(run("loops", fixtures / "ckpt4").stdout.split())
    to_blame = r"\((POSIX|MPI-IO) writes for [\d.]+ ms, most on rank \d\)"
    assert re.search(rf"iteration \d+ is the longest: [\d.]+ ms {to_blame}", text)
