"""Sets and priorities of jobs by their periods, as Set-10 has them."""

import numpy as np

from ..model.arrays import Floats

SHORTEST, LONGEST = 1e-9, 1e12
"""Periods in s that a scheduler can be given."""


def set_numbers(periods: Floats) -> Floats:
    """Return the number i of the set of each period, that with 10^i s next to it in logarithm; NaN of NaN.

    Notes
    -----
    Set-10 rounds the logarithm to the nearest integer (Boito, Pallez, Teylo and Vidal, "IO-Sets", TPDS 34 (10), 2023,
    section IV). Rounding down would put the periods of FTIO's experiment (IPDPS'24, section IV: 19.2 s and 384 s)
    where no error of 50 % moves a job into a set with others, but that paper measured what such errors cost.
    """
    return np.asarray(np.rint(np.log10(periods)), np.float64)


def set_priorities(numbers: Floats) -> Floats:
    """Return the priority of each set, 10^-i; without a number that of the set with the longest periods.

    Nothing is known of a job without a period, so it is put before nobody; and it waits for nobody, as jobs of
    unlike periods would wait long for each other.
    """
    known = numbers[~np.isnan(numbers)]
    return np.asarray(10.0 ** -np.where(np.isnan(numbers), known.max() if len(known) else 0.0, numbers))
