"""Names for the arrays that signatures speak of most."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Complexes = npt.NDArray[np.complex128]

Ints = npt.NDArray[np.int64]
"""Counts, ticks, or rows of a table."""

Rows = npt.NDArray[np.intp]
"""Places in an array, as NumPy's own functions give them."""

Table = npt.NDArray[np.int32]
"""A column of rows in another table, −1 for none."""

Mask = npt.NDArray[np.bool_]
