"""Kinds of files: names that differ only in numbers, hashes or single letters are of one kind, as ``dump.*.nc``."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

_VARIES: Final = re.compile(r"(\d+|(?<![A-Za-z0-9])[A-Za-z](?![A-Za-z0-9]))")
"""Numbers, and letters that stand alone, as in ``a.restart`` and ``b.restart``."""
_RANDOM: Final = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]{8})(?=[A-Za-z]+\d+[A-Za-z]+\d|\d+[A-Za-z]+\d+[A-Za-z])[A-Za-z0-9]+", re.ASCII
)
"""Words long enough to be a hash, a random name or a time stamp, which change between letters and digits three times or
more; ``checkpoint0001`` is a name with a number."""

_Shape = tuple[tuple[str, ...], tuple[bool, ...]]
_Values = set[tuple[str, ...]]


def file_kinds(names: Sequence[str]) -> list[str]:
    """Return the kind of each file: its name with ``*`` in place of what differs between files of the kind.

    >>> file_kinds(["run1/dump.10.nc", "run1/dump.20.nc", "a.restart", "b.restart", "etilqs_4a09c1f2e", "in.txt"])
    ['run1/dump.*.nc', 'run1/dump.*.nc', '*.restart', '*.restart', 'etilqs_*', 'in.txt']
    """
    shaped = cache(_shaped)
    groups: dict[tuple[_Shape, _Shape], tuple[_Values, _Values]] = {}
    parts = [_halves(name) for name in names]
    shapes = [tuple(shaped(half) for half in halves) for halves in parts]
    for folder, name in shapes:
        known = groups.setdefault((folder[0], name[0]), (set(), set()))
        known[0].add(folder[1])
        known[1].add(name[1])
    called = {key: "".join(map(_title, key, values)) for key, values in groups.items()}
    return [called[folder[0], name[0]] for folder, name in shapes]


def _halves(name: str) -> tuple[str, str]:
    """Return a name as its folder, with the slash, and the rest."""
    cut = name.rfind("/") + 1
    return name[:cut], name[cut:]


def _shaped(text: str) -> tuple[_Shape, tuple[str, ...]]:
    """Return what a text has in common with others of its kind, and what may differ between them."""
    parts = _VARIES.split(_RANDOM.sub("*", text))
    return (tuple(parts[::2]), tuple(part.isdigit() for part in parts[1::2])), tuple(parts[1::2])


def _title(shape: _Shape, values: _Values) -> str:
    """Return texts of one shape as one, with ``*`` for what differs."""
    shown = [column[0] if len(set(column)) == 1 else "*" for column in zip(*values, strict=True)]
    return "".join(part for pair in zip(shape[0], [*shown, ""], strict=True) for part in pair)


def common_folder(kinds: Iterable[str]) -> str:
    """Return the folder, with its slash, that most of some kinds are in: views leave it out."""
    found = Counter(kind[: kind.rfind("/") + 1] for kind in kinds)
    return found.most_common(1)[0][0] if found else ""
