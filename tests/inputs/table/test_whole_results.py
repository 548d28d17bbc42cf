"""Tables of operations as CSV, JSON lines and Parquet: what is read is what was written, and as stored."""

import json

import numpy as np
import pandas as pd
import pytest
from iostrata import open_trace


def table(seed):
    rng = np.random.default_rng(seed)
    start = np.sort(np.round(rng.uniform(0, 30, 50), 4))
    return pd.DataFrame(
        {
            "layer": rng.choice(["MPI-IO", "POSIX"], 50),
            "rank": rng.integers(0, 4, 50),
            "mode": rng.choice(["read", "write"], 50),
            "start": start,
            "end": start + np.round(rng.uniform(0, 0.7, 50), 4),
            "bytes": rng.integers(0, 10**6, 50),
            "file": rng.choice(["/a", "/b", "/c"], 50),
            "node": "n0",
        }
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_rows_are_those_written(held, tmp_path, seed, form):
    rows, path = table(seed), tmp_path / f"operations.{form}"
    if form == "csv":
        rows.to_csv(path, index=False)
    elif form == "jsonl":
        path.write_text("\n".join(json.dumps(one) for one in rows.to_dict("records")))
    else:
        rows.to_parquet(path)
    trace = open_trace(path)
    for (layer, mode), mine in rows.groupby(["layer", "mode"]):
        found = trace.layers[layer].statistics(mode)
        assert (found.operations, found.bytes) == (len(mine), mine.bytes.sum())
        assert found.summed_s == pytest.approx((mine.end - mine.start).sum())
    held(f"{seed}_{form}", [trace.definitions, trace.operations, trace.damage, trace.window])
