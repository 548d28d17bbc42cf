"""What a process may take, and what it keeps of what it frees."""

import resource
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from iostrata.model.budget import keep_freed_memory
{kept}
for _ in range(20):
    np.ones(5_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""


def faults(kept: str) -> int:
    """Return how often a process that makes columns one after the other was given memory by the system."""
    words = [sys.executable, "-c", PROGRAM.format(kept=kept)]
    environment = {"NUMPY_MADVISE_HUGEPAGE": "0"}
    return int(subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="how much memory is given is told by Linux")
def test_columns_that_are_freed_serve_the_next() -> None:
    pages = 40_000_000 // resource.getpagesize()
    given_anew = faults("")
    if given_anew < 15 * pages:
        pytest.skip("this C library keeps what is freed by itself")
    assert given_anew - faults("keep_freed_memory()") > 15 * pages
