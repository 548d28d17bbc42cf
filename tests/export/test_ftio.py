"""What FTIO reads: bytes conserved, and its own spectrum gives the period that ours gives."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import OutputError, SelectionError, detect_period, open_trace, write_ftio

FIXTURES = Path(__file__).parents[2] / "fixtures"
DETECT = """
import contextlib, io, json, sys
with contextlib.redirect_stdout(io.StringIO()):
    from ftio.cli.ftio_core import main
    predictions, _ = main(["ftio", *sys.argv[1:], "-e", "no"])
found = predictions[0]
print(json.dumps({"frequencies": list(map(float, found.dominant_freq)), "bytes": int(found.total_bytes)}))
"""


def samples_of(entry):
    """Return distances and values of the steps that a file has."""
    times, values = (np.array(entry["bandwidth"][name]) for name in ("t_overlap", "b_overlap_avr"))
    assert len(times) == len(values)
    assert values[-1] == 0
    return np.diff(times), values[:-1]


@pytest.mark.skipif(importlib.util.find_spec("ftio") is None, reason="FTIO (ftio-hpc) is not installed")
@pytest.mark.parametrize(
    ("name", "layer", "direction"),
    [("ior384", "MPI-IO", "write"), ("ior384", "MPI-IO", "read"), ("ncckpt4", "netCDF", "write")],
)
def test_ftio_finds_the_period_that_its_method_finds_here(tmp_path, name, layer, direction):
    trace = open_trace(FIXTURES / name)
    written = write_ftio(trace, tmp_path / "x.ftio.jsonl", layers=layer, direction=direction)
    ours = detect_period(trace.layers[layer].bandwidth(direction), "ftio", fs=written.fs)
    options = ("x.ftio.jsonl", "-m", direction, "-f", repr(written.fs))
    done = subprocess.run(
        [sys.executable, "-c", DETECT, *options], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["bytes"] == trace.layers[layer].statistics(direction).bytes
    assert ours.period is not None
    assert 1 / found["frequencies"][0] == pytest.approx(ours.period, rel=1e-9)


@given(
    moved=st.lists(st.tuples(st.integers(0, 900), st.integers(0, 90), st.integers(0, 2**45)), min_size=1, max_size=9),
    fs=st.floats(0.3, 50) | st.just("auto"),
)
def test_bytes_are_conserved_at_any_frequency(make_trace, tmp_path, moved, fs):
    rows = [{"begin": begin, "end": begin + length, "moved": size} for begin, length, size in moved]
    trace = make_trace([("POSIX", "/scratch/a", -1)], rows)
    total = sum(size for _, _, size in moved)
    if not total:
        with pytest.raises(SelectionError, match="moved no bytes"):
            write_ftio(trace, tmp_path / "x.ftio.jsonl", layers="POSIX", fs=fs)
        return
    written = write_ftio(trace, tmp_path / "x.ftio.jsonl", layers="POSIX", fs=fs)
    (line,) = (tmp_path / "x.ftio.jsonl").read_text().splitlines()
    entry = json.loads(line)["write_sync"]
    distances, values = samples_of(entry)
    assert (distances * values).sum() == pytest.approx(total, rel=1e-9)
    assert entry["total_bytes"] == total
    assert entry["total_io_ops"] == len(moved)
    # One value every 1/fs seconds, taken as FTIO takes it, is one of each bin.
    assert np.allclose(distances[:-1], 1 / written.fs)
    assert len(values) == written.bins + 1


def test_both_directions_are_in_the_file_unless_one_is_chosen(tmp_path):
    trace = open_trace(FIXTURES / "ior384")
    for direction, modes in ((None, {"read_sync", "write_sync"}), ("read", {"read_sync"})):
        write_ftio(trace, tmp_path / "x.ftio.jsonl", layers="MPI-IO", direction=direction)
        line = json.loads((tmp_path / "x.ftio.jsonl").read_text())
        assert set(line) == modes
        assert all(entry["number_of_ranks"] == 384 for entry in line.values())


def test_what_makes_no_sense_is_refused_and_leaves_nothing(make_trace, tmp_path):
    trace = make_trace([("POSIX", "/scratch/a", -1)], [{"begin": 1, "end": 2, "moved": 3}])
    with pytest.raises(SelectionError, match="no direction 'total'"):
        write_ftio(trace, tmp_path / "x.ftio.jsonl", layers="POSIX", direction="total")
    with pytest.raises(SelectionError, match="moved no bytes"):
        write_ftio(trace, tmp_path / "x.ftio.jsonl", layers="POSIX", direction="read")
    with pytest.raises(SelectionError):
        write_ftio(trace, tmp_path / "x.ftio.jsonl", layers="POSIX", fs=-1.0)
    with pytest.raises(SelectionError, match="no layer 'MPI-IO'"):
        write_ftio(trace, tmp_path / "x.ftio.jsonl", layers=["POSIX", "MPI-IO"])
    with pytest.raises(OutputError):
        write_ftio(trace, tmp_path / "none" / "x.ftio.jsonl", layers="POSIX")
    assert not list(tmp_path.iterdir())
