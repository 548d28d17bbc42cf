"""Fields of DFTracer's events that matter here."""

from typing import Final

NUMBERS: Final = ("pid", "tid", "ts", "dur", "ph", "fd", "ret", "offset", "count", "size", "flags")
"""Columns of numbers; `ph` is the code of its one letter."""
TEXTS: Final = ("name", "cat", "fname", "fhash", "hostname", "hhash", "arg_name", "arg_value", "arg_hash")
UNKNOWN: Final = -(2**62)
"""A number that is not there."""
NO_AMOUNT: Final = UNKNOWN + 1
"""A result or size that is there and is no number, such as NaN, or none that can be."""
COMPLETE: Final = ord("X")
METADATA: Final = ord("M")
SUMMED: Final = ord("A")
"""Sums of the calls of a function in an interval of time, in place of these."""
NUMBERED: Final = {ord("1"): COMPLETE, ord("3"): SUMMED, ord("4"): METADATA}
"""What version 2 of DFTracer writes in place of letters."""
UNITS: Final = {"NS": 1, "US": 1000, "MS": 10**6, "SEC": 10**9}
"""ns of a unit of time, by what a line of the kind CM calls it."""
BEHIND: Final = 32
"""Bytes behind a text that are read with it: as many as a gap, and the value after it, are compared by at once."""
