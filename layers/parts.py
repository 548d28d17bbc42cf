"""Names of the parts of a layer by file, file system, rank, node or handle."""

from typing import Final

from .statistics.grouping import Key

_TITLES: Final = {"rank": "rank {}", "handle": "handle {}"}
_WITHOUT: Final = {
    "file": "no file",
    "filesystem": "no known file system",
    "rank": "no rank",
    "node": "no node",
    "handle": "no handle",
}


def part_title(by: str, key: Key) -> str:
    """Return how a part is called: ``rank 3``, the name of a file, ``no file``."""
    return _WITHOUT[by] if key is None else _TITLES.get(by, "{}").format(key)
