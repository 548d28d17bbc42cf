"""What stands out in a trace, with evidence and advice; each finding is one function."""

from .facts import Facts, Match
from .find import find
from .rule import Rule, finding, rules

__all__ = ["Facts", "Match", "Rule", "find", "finding", "rules"]
