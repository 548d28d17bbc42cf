"""How much an upper and a lower layer moved, by what is above the operations of the lower one, and who moved it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...model.arrays import Rows
from ...model.operations import view
from ...model.rows import column_at
from ..attribution.traffic import Traffic
from ..statistics.statistics import total
from .access_pattern import AccessPattern, access_pattern
from .ranks import MovingRanks, moving_ranks


@dataclass(frozen=True, eq=False)
class FlowAmounts:
    """Operations of an upper and a lower layer in one direction, on the selected files within the window.

    "By descent" are the lower operations through handles that descend from a handle of the upper layer. Those of them
    that ran inside an operation of the upper layer are *attributed* to it, the rest is *hidden*: the upper layer caused
    it outside of its own operations. *Inferred* operations ran inside an operation of the upper layer although that
    does not follow from handle and thread; most of them are not by descent. Bytes are those moved, int, or float where
    the window cuts an operation.

    Attributes
    ----------
    upper, lower : str
        Names of the layers.
    direction : str
        ``read``, ``write`` or ``total``.
    adjacent : bool
        Whether most lower handles that descend from the upper layer do so without a layer in between.
    traffic : Traffic
        The operations of the trace, whose rows the following refer to.
    upper_rows, lower_rows : intp
        Operations of the upper layer, and those of the lower layer by descent.
    attributed_rows, inferred_rows, hidden_rows, set_aside_rows : intp
        Lower operations by what is above them; those set aside are by descent, too.
    ancestor : int64 (n,)
        Row of the upper operation that each operation of the trace belongs to, −1 where there is none.
    """

    upper: str
    lower: str
    direction: str
    adjacent: bool
    traffic: Traffic
    upper_rows: Rows
    lower_rows: Rows
    attributed_rows: Rows
    inferred_rows: Rows
    hidden_rows: Rows
    set_aside_rows: Rows
    ancestor: npt.NDArray[np.int64]

    def __repr__(self) -> str:
        return (
            f"<Flow {self.upper} → {self.lower}, {self.direction}: {self.upper_bytes} → {self.lower_bytes} bytes, "
            f"amplification {ratio_text(self.amplification)} by descent, "
            f"{ratio_text(self.attributed_amplification)} by attribution>"
        )

    @property
    def upper_operations(self) -> int:
        """Operations of the upper layer."""
        return len(self.upper_rows)

    @property
    def lower_operations(self) -> int:
        """Operations of the lower layer by descent."""
        return len(self.lower_rows)

    @property
    def upper_bytes(self) -> int | float:
        """Bytes that the upper layer moved."""
        return self._bytes(self.upper_rows)

    @property
    def lower_bytes(self) -> int | float:
        """Bytes that the lower layer moved by descent."""
        return self._bytes(self.lower_rows)

    @property
    def attributed_bytes(self) -> int | float:
        """Bytes of the lower layer inside operations of the upper one."""
        return self._bytes(self.attributed_rows)

    @property
    def inferred_bytes(self) -> int | float:
        """Bytes of the lower layer that were inside operations of the upper one by inference only."""
        return self._bytes(self.inferred_rows)

    @property
    def hidden_bytes(self) -> int | float:
        """Bytes of the lower layer by descent outside any operation of the upper one."""
        return self._bytes(self.hidden_rows)

    @property
    def set_aside_bytes(self) -> int | float:
        """Bytes of the lower layer by descent on files that are not selected."""
        return self._bytes(self.set_aside_rows)

    @property
    def amplification(self) -> float | None:
        """Bytes below by descent per byte above; None where the upper layer moved none."""
        return _ratio(self.lower_bytes, self.upper_bytes)

    @property
    def attributed_amplification(self) -> float | None:
        """Bytes below by attribution per byte above; None where the upper layer moved none."""
        return _ratio(self.attributed_bytes, self.upper_bytes)

    @property
    def operation_amplification(self) -> float | None:
        """Operations below by descent per operation above; None where there are none above."""
        return _ratio(self.lower_operations, self.upper_operations)

    @cached_property
    def upper_ranks(self) -> MovingRanks:
        """Who moved the bytes of the upper layer."""
        return moving_ranks(self.traffic, self.upper_rows)

    @cached_property
    def lower_ranks(self) -> MovingRanks:
        """Who moved the bytes of the lower layer, by descent."""
        return moving_ranks(self.traffic, self.lower_rows)

    @cached_property
    def upper_access(self) -> AccessPattern:
        """Access pattern of the upper operations."""
        return self._access(self.upper_rows, self.upper)

    @cached_property
    def lower_access(self) -> AccessPattern:
        """Access pattern of the lower operations by descent."""
        return self._access(self.lower_rows, self.lower)

    def _mask(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which operations of the trace are among `rows`, bool (n,)."""
        mask = np.zeros(len(self.ancestor), np.bool_)
        mask[rows] = True
        return mask

    def _bytes(self, rows: Rows) -> int | float:
        return total(self.traffic.moved[rows])

    def _access(self, rows: Rows, layer: str) -> AccessPattern:
        operations = view(self.traffic.operations, rows)
        file = column_at(self.traffic.definitions.handles.file, operations.handle)
        return access_pattern(operations, file, absolute=self.traffic.absolute_offsets(layer))


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def ratio_text(ratio: float | None) -> str:
    """Return a ratio with four digits, or that it is undefined."""
    return "undefined" if ratio is None else f"{ratio:.4g}"
