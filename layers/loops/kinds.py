"""Kinds of files: names that differ only in numbers, hashes or single letters are of one kind, as ``dump.*.nc``."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

_VARIES: Final = re.compile(r"(\d+|(?<![A-Za-z0-9])[A-Za-z](?![A-Za-z0-9]))")
"""Numbers, and letters that stand alone, as in ``a.restart`` and ``b.restart``."""
_WORD: Final = re.compile(r"[A-Za-z0-9]{8,}")
"""What is long enough to be a hash, a random name or a time stamp with letters."""
_MANY: Final = 3
"""Changes between letters and digits from which on such a word is one; ``checkpoint0001`` is a name with a number."""


def file_kinds(names: Sequence[str]) -> list[str]:
    """Return the kind of each file: its name with ``*`` in place of what differs between files of the kind.

    >>> file_kinds(["run1/dump.10.nc", "run1/dump.20.nc", "a.restart", "b.restart", "etilqs_4a09c1f2e", "in.txt"])
    ['run1/dump.*.nc', 'run1/dump.*.nc', '*.restart', '*.restart', 'etilqs_*', 'in.txt']
    """
    plain = [_WORD.sub(_masked, name) for name in names]
    shapes: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name in plain:
        parts = _VARIES.split(name)
        shapes.setdefault((*parts[::2], *map(_sort, parts[1::2])), {})[name] = parts[1::2]
    called = {}
    for words, members in shapes.items():
        columns = list(zip(*members.values(), strict=True))
        shown = [column[0] if len(set(column)) == 1 else "*" for column in columns]
        title = "".join(part for pair in zip(words, [*shown, ""], strict=False) for part in pair)
        called.update(dict.fromkeys(members, title))
    return [called[name] for name in plain]


def _sort(part: str) -> str:
    return "0" if part.isdigit() else "a"


def _masked(found: re.Match[str]) -> str:
    word = found.group()
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(word))
    return "*" if changes >= _MANY else word


def common_folder(kinds: Iterable[str]) -> str:
    """Return the folder, with its slash, that most of some kinds are in: views leave it out."""
    found = Counter(kind[: kind.rfind("/") + 1] for kind in kinds)
    return found.most_common(1)[0][0] if found else ""
