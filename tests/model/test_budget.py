"""What a process may take, and what it keeps of what it frees."""

import ctypes
import resource
import subprocess
import sys

import pytest
from iostrata.model.budget import keep_freed_memory

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


@pytest.mark.parametrize("most", [None, 1 << 26])
def test_the_c_library_is_given_numbers_that_it_can_take(monkeypatch: pytest.MonkeyPatch, most: int | None) -> None:
    """Its parameters are `int`: a larger one comes out as another number without a word."""
    given: list[tuple[int, int]] = []

    class Library:
        def __init__(self, _name: None) -> None:
            self.mallopt = lambda *values: given.append(values)

    monkeypatch.setattr(ctypes, "CDLL", Library)
    keep_freed_memory(most)
    kept = dict(given)[-1]
    assert kept == (2**31 - 1 if most is None else most)
