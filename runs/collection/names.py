"""What runs are called beside each other: of equal names as much of their paths as tells them apart."""

from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase


def distinct_names(names: Mapping[str, str]) -> dict[str, str]:
    """Return names of runs by their keys, and where several are equal the shortest end of the path that differs.

    >>> distinct_names({"/x/a/run1/traces.otf2": "run1", "/x/b/run1/traces.otf2": "run1", "/y.darshan": "y"})
    {'/x/a/run1/traces.otf2': 'a/run1', '/x/b/run1/traces.otf2': 'b/run1', '/y.darshan': 'y'}
    """
    found = dict(names)
    depth = 1
    paths = {key: _path(key) for key in found}
    while True:
        counts = Counter(found.values())
        alike = [key for key, name in found.items() if counts[name] > 1 and name != key]
        if not alike:
            return found
        depth += 1
        for key in alike:
            parts = paths[key]
            # Even a folder and an anchor in it have keys that differ.
            found[key] = "/".join(parts[-depth:]) if depth < len(parts) else key


def matching(names: Mapping[str, str], patterns: Iterable[str]) -> list[str]:
    """Return the keys of runs one of whose names a shell pattern matches: as given, as of `distinct_names`, or the key.

    >>> matching({"/x/a/run1/traces.otf2": "run1", "/x/b/run1/traces.otf2": "run1", "/y.darshan": "y"}, ["b/*"])
    ['/x/b/run1/traces.otf2']
    """
    wanted = tuple(patterns)
    shown = distinct_names(names)
    known = {key: (name, shown[key], key) for key, name in names.items()}
    return [
        key for key, texts in known.items() if any(fnmatchcase(one, pattern) for one in texts for pattern in wanted)
    ]


def _path(key: str) -> list[str]:
    """Return the path of a run's key in parts; that of an anchor whose run is called by its folder ends there."""
    folder, _, file = key.rpartition("/")
    return (folder if file == "traces.otf2" else key).split("/")
