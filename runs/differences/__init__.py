"""What differs between runs before and after a change: which of it matters, and how sure that is."""

from .changes import Change
from .difference import Difference, PhasePair, diff_runs
from .recorded import NotRecorded
from .rules import FailRule

__all__ = ["Change", "Difference", "FailRule", "NotRecorded", "PhasePair", "diff_runs"]
