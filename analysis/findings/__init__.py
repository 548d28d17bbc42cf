"""What stands out in a trace, with evidence and advice."""

from .find import find
from .rules import RULES, Rule

__all__ = ["RULES", "Rule", "find"]
