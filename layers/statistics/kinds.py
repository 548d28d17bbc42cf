"""Kinds of files: names that differ only in numbers, hashes or single letters are of one kind, as ``dump.*.nc``."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

_VARIES: Final = re.compile(r"(\d+|(?<![A-Za-z0-9])[A-Za-z](?![A-Za-z0-9]))")
"""Numbers, and letters that stand alone, as in ``a.restart`` and ``b.restart``."""
_RANDOM: Final = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]{8})(?=[A-Za-z]+\d+[A-Za-z]+\d|\d+[A-Za-z]+\d+[A-Za-z])[A-Za-z0-9]+", re.ASCII
)
"""Words long enough to be a hash, a random name or a time stamp, which change between letters and digits three times or
more; ``checkpoint0001`` is a name with a number."""


def file_kinds(names: Sequence[str]) -> list[str]:
    """Return the kind of each file: its name with ``*`` in place of what differs between files of the kind.

    >>> file_kinds(["run1/dump.10.nc", "run1/dump.20.nc", "a.restart", "b.restart", "etilqs_4a09c1f2e", "in.txt"])
    ['run1/dump.*.nc', 'run1/dump.*.nc', '*.restart', '*.restart', 'etilqs_*', 'in.txt']
    """
    halves = [name.rpartition("/") for name in names]
    parts = {half: _VARIES.split(_RANDOM.sub("*", half)) for half in {half for each in halves for half in each}}
    shapes = {half: (*each[::2], *map(str.isdigit, each[1::2])) for half, each in parts.items()}
    number = {shape: place for place, shape in enumerate(dict.fromkeys(shapes.values()))}
    shape_of = {half: number[shape] for half, shape in shapes.items()}
    groups: dict[tuple[int, ...], tuple[set[str], ...]] = {}
    keys = [(shape_of[folder], shape_of[slash], shape_of[name]) for folder, slash, name in halves]
    for key, each in zip(keys, halves, strict=True):
        known = groups.get(key)
        if known is None:
            known = groups[key] = (set(), set(), set())
        for texts, half in zip(known, each, strict=True):
            texts.add(half)
    called = {key: "".join(_title([parts[half] for half in texts]) for texts in group) for key, group in groups.items()}
    return [called[key] for key in keys]


def _title(texts: Sequence[Sequence[str]]) -> str:
    """Return texts of one shape, in parts, as one with ``*`` for what differs."""
    if len(texts) == 1:
        return "".join(texts[0])
    return "".join(column[0] if len(set(column)) == 1 else "*" for column in zip(*texts, strict=True))


def common_folder(kinds: Iterable[str]) -> str:
    """Return the deepest folder, with its slash, that most of some kinds are in or below: views leave it out.

    >>> common_folder(["/run/dump.nc", "/run/tmp/sort.*", "/"])
    '/run/'
    """
    each = set(kinds)
    found = Counter(kind[: place + 1] for kind in each for place, one in enumerate(kind) if one == "/")
    return max((folder for folder, often in found.items() if 2 * often > len(each)), key=len, default="")
