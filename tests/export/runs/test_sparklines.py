"""The little bandwidth curve of each run on the page of many runs."""

from base64 import b64decode

import numpy as np
import pytest
from iostrata.export.runs.ranking_page import spark_curves
from iostrata.runs.collection.rows import SignalRow


@pytest.mark.parametrize("seed", range(50))
def test_every_bar_stays_in_sight_and_the_largest_is_full(seed):
    random = np.random.default_rng(seed)
    # Rounding makes 255 · top / top a little more than 255 for some values.
    top = float(random.lognormal(15, 5))
    values = np.repeat(np.where(random.random(64) < 0.3, top * random.choice([1.0, 1e-6, 0.4], 64), 0.0), 8)
    values[:8] = top
    row = SignalRow(job="a", layer="POSIX", direction="write", start_s=0.0, bin_s=0.1, values=tuple(values))
    found = spark_curves([row])
    assert found is not None
    ((tone, heights),) = [(curve["tone"], curve["values"]["data"]) for curve in found[2]]
    assert tone == "write"
    bars = np.frombuffer(b64decode(heights), np.uint8)
    assert bars[0] == 255
    assert np.array_equal(bars > 0, values[::8] > 0)
