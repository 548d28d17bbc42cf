"""Names for the arrays that signatures name most."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Complexes = npt.NDArray[np.complex128]

Ints = npt.NDArray[np.int64]
"""Counts, or rows of a table that may have many."""

Ticks = npt.NDArray[np.int64]
"""Times of a trace's clock."""

Rows = npt.NDArray[np.intp]
"""Places in an array, as NumPy's own functions give them."""

Links = npt.NDArray[np.int32]
"""A column of rows in another table, −1 for none."""

Mask = npt.NDArray[np.bool_]
