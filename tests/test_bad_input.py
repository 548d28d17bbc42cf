"""Bad input of some kinds, by the generators of `benchmarks/damage/inputs.py` in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
PROGRAM = Path(__file__).parents[1] / "benchmarks" / "damage" / "inputs.py"


@pytest.mark.parametrize("kind", ["table as CSV", "DFTracer, zipped", "schedule", "server log"])
def test_no_bad_input_ends_but_as_promised(kind: str) -> None:
    words = [sys.executable, str(PROGRAM), "--kind", kind, "--count", "25", "--first", "1000"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.startswith("0 faults in 25 inputs")
