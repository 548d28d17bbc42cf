"""Logs of Darshan made of random segments: what is read is what was written, and as stored."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from iostrata import open_trace

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[2] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)


@pytest.fixture
def logs(darshan_log):
    """Return what makes a log of random segments of three ranks, and these."""

    def make(seed):
        rng = np.random.default_rng(seed)
        records, counted, segments = [], [], []
        for rank in range(3):
            for file in (11, 22):
                begin = np.sort(np.round(rng.uniform(0, 20, 12), 3))
                end = begin + np.round(rng.uniform(0.001, 0.5, 12), 3)
                size = rng.integers(1, 10**6, 12)
                rows = [
                    (int(place), int(one), a, b)
                    for place, one, a, b in zip(np.cumsum(size), size, begin, end, strict=True)
                ]
                records.append(made.dxt(file, rank, rows[:8], rows[8:], host=f"n{rank % 2}"))
                moved = size[8:].sum(), size[:8].sum()
                counted.append(made.posix(file, rank, 4, 8, *map(int, moved)))
                segments += [(rank, file, "write", *one) for one in rows[:8]]
                segments += [(rank, file, "read", *one) for one in rows[8:]]
        modules = {"POSIX": (4, counted), "DXT_POSIX": (1, records)}
        return darshan_log(processes=3, modules=modules, names={11: "/scratch/a.h5", 22: "/home/b.txt"}), segments

    return make


@pytest.mark.parametrize("seed", range(3))
def test_segments_are_those_written(held, logs, seed):
    path, segments = logs(seed)
    trace = open_trace(path)
    layer = trace.layers["POSIX"]
    for direction in ("read", "write"):
        mine = [one for one in segments if one[2] == direction]
        found = layer.statistics(direction)
        assert found.operations == len(mine)
        assert found.bytes == sum(one[4] for one in mine)
        assert found.summed_s == pytest.approx(sum(one[6] - one[5] for one in mine), rel=1e-6)
    assert {key: part.statistics("total").bytes for key, part in layer.by("file").items()} == {
        name: sum(one[4] for one in segments if one[1] == file)
        for file, name in ((11, "/scratch/a.h5"), (22, "/home/b.txt"))
    }
    held(str(seed), [trace.definitions, trace.operations, trace.damage, trace.window])
