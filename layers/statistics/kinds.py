"""Kinds of files by name: what differs only in numbers, counting letters or random words is one, as ``dump.*.nc``."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

_VARIES: Final = re.compile(r"(\d+|(?<![A-Za-z0-9])[A-Za-z](?![A-Za-z0-9]))")
"""Numbers, and letters that stand alone, as in ``a.restart`` and ``b.restart``."""
_RANDOM: Final = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]{8})(?=[A-Za-z]+\d+[A-Za-z]+\d|\d+[A-Za-z]+\d+[A-Za-z])[A-Za-z0-9]+", re.ASCII
)
"""Words long enough to be a hash, a random name or a time stamp, which change between letters and digits three times or
more; ``checkpoint0001`` is a name with a number."""
_NUMBER: Final = re.compile(r"\d+")
_UNUSUAL: Final = re.compile(r"\d[A-Za-z]+\d|[A-Za-z]\d+[A-Za-z]|[A-Z]{2}|[a-z][A-Z]")
"""What at least one of several random words has."""
_PYTHON: Final = re.compile(r"(?=([a-z0-9_]{8})(?![A-Za-z0-9_]))", re.ASCII)
_WORD: Final = re.compile(r"([A-Za-z0-9]{6,})", re.ASCII)
_C: Final = re.compile(r"(?=([A-Za-z0-9]{6})(?![A-Za-z0-9]))", re.ASCII)
"""Words, and ends of them by which Python and C make names of temporary files unique."""
_CAPITAL: Final = re.compile(r"[A-Z](?=[a-z])")
"""One that begins a word, as in ``TotalEnergy``."""
_CLASS: Final = re.compile(r"\d+|[a-z_]+|[A-Z]+")
_MIXED: Final = 1.5
"""Changes between digits, small letters and capitals in random words in the mean; six hexadecimal digits have 2.3."""
_IN_ALL: Final = 6
"""Changes that a few such words must have together: names such as ``v2beta`` have two each."""
_APART: Final = 0.8
"""Share of the places in which a random word differs from the one before; of hexadecimal digits 15 in 16 do."""
_LOOKED_AT: Final = 8
"""Words of a name that are."""
_FIRST: Final = re.compile(r"[A-Za-z0-9_.-]aaa?(?![A-Za-z0-9])", re.ASCII)
"""The first of what letters count, as in ``xaa``, ``xab``."""
_COUNTED: Final = re.compile(r"(?<=[A-Za-z0-9_.-])(?=([a-z]{2,3})(?![A-Za-z0-9]))", re.ASCII)
_FRACTION: Final = re.compile(r"(?:^|=)-?\d+(?:\.\d|e[+-]?\d)", re.ASCII)
_DECIMAL: Final = re.compile(r"(?=((?<==)-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|^\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=/?$)))", re.ASCII)
"""A number behind ``=``, or one that is all of a name, which is a time."""
_UUID: Final = re.compile(r"([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})")
_HASHED: Final = re.compile(r"^(?=([0-9a-f]{2,3})/$)", re.ASCII)
"""A folder among those that share files out by a hash."""
_SHARED: Final = 3
"""Such folders that there must be, of which half have a digit."""


def file_kinds(names: Sequence[str]) -> list[str]:
    """Return the kind of each file: its name with ``*`` in place of what differs between files of the kind.

    >>> file_kinds(["run1/dump.10.nc", "run1/dump.20.nc", "a.restart", "b.restart", "etilqs_4a09c1f2e", "in.txt"])
    ['run1/dump.*.nc', 'run1/dump.*.nc', '*.restart', '*.restart', 'etilqs_*', 'in.txt']
    >>> file_kinds(["/tmp/sortpFJ8aB", "/tmp/sort3Qx0bZ", "xaa", "xab", "t=0.5.vtk", "t=10.vtk"])
    ['/tmp/sort*', '/tmp/sort*', 'x*', 'x*', 't=*.vtk', 't=*.vtk']
    """
    return list(_kinds(tuple(names)))


# What deals with files asks one after another, of one trace or of two that are compared.
@lru_cache(maxsize=2)
def _kinds(names: tuple[str, ...]) -> list[str]:
    plain = _families(dict.fromkeys(step for name in names for step in _steps(name)))
    named = ["".join(plain.get(step, step) for step in _steps(name)) for name in names] if plain else names
    parts = [_VARIES.split(_RANDOM.sub("*", one)) for one in named]
    shapes = [(*each[::2], *map(str.isdigit, each[1::2])) for each in parts]
    titles: dict[tuple[str | bool, ...], list[str]] = {}
    for shape, each in zip(shapes, parts, strict=True):
        known = titles.get(shape, each)
        titles[shape] = [one if one == other else "*" for one, other in zip(known, each, strict=True)]
    called = {shape: "".join(title) for shape, title in titles.items()}
    return [called[shape] for shape in shapes]


def _steps(name: str) -> list[str]:
    """Return the folders of a name with a slash behind each, and the file."""
    *folders, file = name.split("/")
    return [*(f"{one}/" for one in folders), file]


def _families(names: Iterable[str]) -> dict[str, str]:
    """Return names of files, and of folders with a slash behind each, that differ in a word of one sort, with ``*``."""
    found: dict[str, str] = {}
    left = list(names)
    for seed, pattern, is_sort in _SORTS:
        if not any(map(seed.search, left)):
            continue
        families: dict[tuple[str, str, int], list[tuple[str, str, str, str]]] = {}
        for name in left:
            for match in islice(pattern.finditer(name), _LOOKED_AT):
                before, word, behind = name[: match.start(1)], match[1], name[match.end(1) :]
                key = _NUMBER.sub("#", before), _NUMBER.sub("#", behind), 0 if seed is _FRACTION else len(word)
                families.setdefault(key, []).append((name, before, word, behind))
        for family in families.values():
            words = list(dict.fromkeys(word for _, _, word, _ in family))
            if len(words) > 1 and is_sort(words):
                for name, before, _, behind in family:
                    found.setdefault(name, f"{before}*{behind}")
        left = [name for name in left if name not in found]
    return found


def _is_random(words: Sequence[str]) -> bool:
    changes = sum(len(_CLASS.findall(_CAPITAL.sub("a", one))) - 1 for one in words)
    apart = sum(one != other for pair in pairwise(words) for one, other in zip(*pair, strict=True))
    return changes >= max(_IN_ALL, _MIXED * len(words)) and apart > _APART * (len(words) - 1) * len(words[0])


def _is_counted(words: Sequence[str]) -> bool:
    """Tell whether letters count from the first on, with few left out."""
    last = 0
    for letter in max(words):
        last = 26 * last + ord(letter) - ord("a")
    return min(words).strip("a") == "" and last <= len(words)


def _is_hashed(words: Sequence[str]) -> bool:
    return len(words) >= _SHARED and 2 * sum(not one.isalpha() for one in words) >= len(words)


_SORTS: Final[tuple[tuple[re.Pattern[str], re.Pattern[str], Callable[[Sequence[str]], bool]], ...]] = (
    (_UUID, _UUID, bool),
    (_FRACTION, _DECIMAL, lambda words: any(map(_FRACTION.search, (f"={one}" for one in words)))),
    (_FIRST, _COUNTED, _is_counted),
    (_HASHED, _HASHED, _is_hashed),
    *((_UNUSUAL, pattern, _is_random) for pattern in (_PYTHON, _WORD, _C)),
)
"""What one of the words has at least, where they may be, and whether several are of the sort; the first that fits."""


def common_folder(kinds: Iterable[str]) -> str:
    """Return the deepest folder, with its slash, that most of some kinds are in or below: views leave it out.

    >>> common_folder(["/run/dump.nc", "/run/tmp/sort.*", "/"])
    '/run/'
    """
    each = set(kinds)
    found = Counter(kind[: place + 1] for kind in each for place, one in enumerate(kind) if one == "/")
    return max((folder for folder, often in found.items() if 2 * often > len(each)), key=len, default="")
