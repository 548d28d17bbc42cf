"""Bad input of some kinds, by the generators of `benchmarks/damage/inputs.py` in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
PROGRAM = Path(__file__).parents[1] / "benchmarks" / "damage" / "inputs.py"


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        *((kind, 1000) for kind in ("table as CSV", "DFTracer, zipped", "schedule", "server log")),
        # Among them what once ended in a traceback, an abort of a library, or its warning.
        *(("table as Parquet", first) for first in (36_000_080, 36_000_140, 36_000_180, 36_001_220)),
        ("TMIO", 36_000_140),
    ],
)
def test_no_bad_input_ends_but_as_promised(kind: str, first: int) -> None:
    words = [sys.executable, str(PROGRAM), "--kind", kind, "--count", "25", "--first", str(first)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.startswith("0 faults in 25 inputs")
