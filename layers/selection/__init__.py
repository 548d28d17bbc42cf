"""Which files, which times and which directions count."""

from .files import DEFAULT_RULES, FileRule

__all__ = ["DEFAULT_RULES", "FileRule"]
