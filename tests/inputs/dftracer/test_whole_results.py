"""Files of DFTracer made of random calls: what is read is what was written, and as stored."""

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


@pytest.mark.parametrize("seed", range(3))
def test_calls_are_those_written(held, dftracer_file, seed):
    rng = np.random.default_rng(seed)
    base, at, lines, moved = 1_700_000_000 * 10**6, 0, [], {"read": 0, "write": 0}
    lines = [made.dftracer_metadata("HH", "node9", 5), made.dftracer_metadata("FH", "/data/a.bin", "af")]
    for _ in range(40):
        name = ("read", "write", "pread64", "lseek64", "fsync", "stat", "train")[rng.integers(7)]
        length, size = int(rng.integers(1, 5000)), int(rng.integers(0, 10**6))
        known = {"fhash": "af", "hhash": 5, "fd": 3, "ret": size, "count": size + 7 * int(rng.integers(2))}
        if name == "train":
            known, more = {}, {"cat": "app"}
        else:
            more = {}
        if name == "pread64":
            known["offset"] = size
        lines.append(made.dftracer_event(name, base + at, length, **known, **more))
        moved["write" if name == "write" else "read"] += size if name in ("read", "write", "pread64") else 0
        at += int(rng.integers(1, 20000))
    trace = open_trace(dftracer_file(lines))
    layer = trace.layers["POSIX"]
    assert {one: layer.statistics(one).bytes for one in moved} == moved
    held(str(seed), [trace.definitions, trace.operations, trace.damage, layer.metadata_events])
