"""Advice for what a trace shows: knobs of libraries that are not in it are left out."""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from ...model.definitions import Definitions

_KNOBS: Final = {
    "HDF5": re.compile(r"\bH5\w+|\bHDF5\b|hyperslabs|collective metadata"),
    "netCDF": re.compile(r"\b(nc_\w+|NC_\w+|netCDF)"),
    "PnetCDF": re.compile(r"PnetCDF"),
    "ADIOS": re.compile(r"ADIOS2"),
    "MPI-IO": re.compile(r"\b(MPI_File_\w+|cb_\w+|striping_\w+|collectively|file view|OMPIO|ROMIO)\b"),
    "ROMIO": re.compile(r"\b(ROMIO|romio_\w+|ind_\w+)"),
    "OMPIO": re.compile(r"\b(OMPIO|OMPI_MCA\w+|sharedfp)"),
    "ISOC": re.compile(r"setvbuf"),
    "ranks": re.compile(r"\b(ranks?|aggregators?)\b|\bMPI_(?!File_)\w+"),
    "Lustre": re.compile(r"\b(lfs|Lustre)\b"),
    "database": re.compile(r"transaction"),
}
"""Names by which one sees which library or file system a piece of advice is for, or that it is for several ranks."""
_OPEN_MPI: Final = re.compile(r"/ompi\.|/openmpi|spectrum_?-?mpi")
"""In names of files: its session folder, its settings, and what IBM makes of it."""
_OF_DATABASES: Final = re.compile(r"[-.](journal|wal|aof)$|/(pg_wal|pg_xlog)/|/ib_logfile\d+$|/MANIFEST-\d{6}$")
"""Logs of SQLite, Redis, PostgreSQL and MySQL, which a commit flushes; what LevelDB and RocksDB have beside theirs."""
_OF_OMPIO: Final = re.compile(r"/ompi\..*\.sm$")
"""Files in which OMPIO keeps shared file pointers; ROMIO makes none."""
_SENTENCES: Final = re.compile(r"(?<=[.;])\s+(?![^(]*\))")
_OF_DIRECTION: Final = {"write": re.compile(r"^Writes$"), "read": re.compile(r"^Reads$")}
"""What stands before the colon of advice for one direction."""
_STATEMENT: Final = 5
"""Words from which on what stands before a colon says something by itself."""
_ITEMS: Final = re.compile(r",\s+(?![^(]*\))")


def shown_in(definitions: Definitions, layers: Collection[str]) -> frozenset[str]:
    """Return the libraries and file systems that a trace shows, its `layers` among them.

    ROMIO is in every MPI library and OMPIO in Open MPI alone, whose files show it; where OMPIO's own files do, the
    program did not use ROMIO.
    """
    files = definitions.files
    of_open_mpi = [name for name in files.name if _OPEN_MPI.search(name)]
    shown = set(layers)
    if any(map(_OF_OMPIO.search, of_open_mpi)):
        shown.add("OMPIO")
    elif "MPI-IO" in shown:
        shown |= {"ROMIO", "OMPIO"} if of_open_mpi else {"ROMIO"}
    if any(map(_OF_DATABASES.search, files.name)):
        shown.add("database")
    if any("lustre" in one.get("File system", "").lower() for one in files.properties):
        shown.add("Lustre")
    return frozenset(shown)


@lru_cache(maxsize=1024)
def advice_for(advice: str, shown: frozenset[str], direction: str = "") -> str:
    """Return the advice without what is for libraries and file systems that are none of those shown.

    Nor what is for the other direction, where there is one; all of it where nothing is left.

    >>> advice_for("Align data to the blocks: H5Pset_alignment, or padding. Set romio_ds_write=disable.", frozenset())
    'Align data to the blocks: padding.'
    """
    missing = [pattern for name, pattern in _KNOBS.items() if name not in shown]
    missing += [_OF_DIRECTION[other] for other in _OF_DIRECTION.keys() - {direction} if direction in _OF_DIRECTION]

    def there(found: re.Match[str]) -> str:
        items = [item for item in found[1].split(", ") if not any(one.search(item) for one in missing)]
        return f" ({', '.join(items)})" if items else ""

    sentences = _SENTENCES.split(re.sub(r" \(([^()]*)\)", there, advice))
    kept = [left for one in sentences if (left := _without(one, missing))]
    if not kept:
        return advice
    whole = re.sub(r";(?=\s+[A-Z][a-z])", ".", " ".join(kept).rstrip(".;")).removeprefix("or ").removeprefix("Or ")
    return f"{whole[:1].upper() if advice[:1].isupper() else whole[:1]}{whole[1:]}."


def _without(sentence: str, missing: Collection[re.Pattern[str]]) -> str:
    """Return a sentence without what any of `missing` is in, empty where nothing is left that says something."""
    text, end = (sentence[:-1], sentence[-1]) if sentence[-1:] in ".;" else (sentence, "")
    head, colon, named = text.partition(": ")
    if any(one.search(head) for one in missing):
        return ""
    items = [item for item in _ITEMS.split(named) if not any(one.search(item) for one in missing)]
    if len(items) < len(_ITEMS.split(named)):
        if not items and len(head.split()) < _STATEMENT:
            return ""
        named = ", ".join(items).removeprefix("or ").removeprefix("and ")
    return head + (colon + named if named else "") + end
