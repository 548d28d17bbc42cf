"""Hashing of 64-bit keys for tables in compiled loops.

A trace chooses the keys. With a hash that it could foresee it could make every search as long as the table, so each run
of the program hashes otherwise; no result depends on it.

The module needs numba; import it inside the function that uses it, or in a module of kernels.
"""

import secrets
from typing import Final

import numpy as np

from .compiled import inlined

_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


def random_seed() -> np.uint64:
    """Return a number for `hashed` that nobody can foresee."""
    return np.uint64(secrets.randbits(64))


@inlined
def hashed(key: np.uint64, seed: np.uint64) -> np.uint64:
    """Return 63 bits of which each depends on all bits of `key` and of `seed` (the finaliser of splitmix64)."""
    mixed = key ^ seed
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = ((mixed + seed) ^ (mixed >> np.uint64(27))) * _SECOND
    return np.uint64((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(1))
