"""Dynamic time warping as IOSI's paper applies it, the baseline that IOSI is compared with (section 6.2)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...model.arrays import Floats
from ...model.errors import SelectionError

MOST_VALUES: Final = 2**14
"""The steps of two sequences of this length take 256 MiB."""


def warped_mean(sequences: Sequence[Floats], length: int) -> Floats:
    """Return one sequence of `length` values for all: two are aligned, the result with the third, and so on.

    Aligned sequences are averaged along the warping path, which is then read at `length` equal distances.

    Raises
    ------
    SelectionError
        If a sequence is longer than `MOST_VALUES`: time and memory grow with the product of two lengths.
    """
    from .kernels import warping_path

    for sequence in sequences:
        if len(sequence) > MOST_VALUES:
            raise SelectionError(
                f"dynamic time warping of {len(sequence)} values takes too much memory, more than {MOST_VALUES} are "
                "refused; use a longer interval"
            )
    result = np.asarray(sequences[0], np.float64)
    for sequence in sequences[1:]:
        path = warping_path(result, np.asarray(sequence, np.float64))
        mean = (result[path[:, 0]] + sequence[path[:, 1]]) / 2
        result = np.interp(np.linspace(0, len(mean) - 1, length), np.arange(len(mean)), mean)
    return result
