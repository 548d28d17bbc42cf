"""What stands out in a trace, with evidence and advice; each finding is one function."""

from .evidence import Evidence, Match
from .find import find
from .rule import Rule, finding, rules

__all__ = ["Evidence", "Match", "Rule", "find", "finding", "rules"]
