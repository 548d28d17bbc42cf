"""Advice for what a trace shows: knobs of libraries that are not in it are left out."""

import re
from collections.abc import Collection
from typing import Final

_KNOBS: Final = {
    "HDF5": re.compile(r"\bH5\w+"),
    "netCDF": re.compile(r"\b(nc_\w+|NC_\w+|nc__\w+)"),
    "MPI-IO": re.compile(r"\b(MPI_File_\w+|romio_\w+|cb_\w+|ind_\w+|OMPI_MCA\w+|io_ompio\w+|sharedfp|ROMIO|OMPIO)"),
}
"""Names by which one sees which library a piece of advice is for."""
_SENTENCES: Final = re.compile(r"(?<=[.;])\s+(?![^(]*\))")
_OMPIO: Final = re.compile(r"^(.*\(ROMIO\)), ([^,]*\(OMPIO\))")
_STATEMENT: Final = 5
"""Words from which on what stands before a colon says something by itself."""
_ITEMS: Final = re.compile(r",\s+(?![^(]*\))")


def advice_for(advice: str, layers: Collection[str], open_mpi: bool = False) -> str:
    """Return the advice without what is for libraries that are none of the layers; all of it where nothing is left.

    With `open_mpi` what is for its own OMPIO comes before what is for ROMIO, which it has as well.

    >>> advice_for("Align data to the blocks: H5Pset_alignment, or padding. Set romio_ds_write=disable.", ["POSIX"])
    'Align data to the blocks: padding.'
    """
    missing = [pattern for library, pattern in _KNOBS.items() if library not in layers]

    def there(found: re.Match[str]) -> str:
        items = [item for item in found[1].split(", ") if not any(one.search(item) for one in missing)]
        return f" ({', '.join(items)})" if items else ""

    sentences = _SENTENCES.split(re.sub(r" \(([^()]*)\)", there, advice))
    kept = [left for one in sentences if (left := _without(one, missing, open_mpi))]
    if not kept:
        return advice
    whole = re.sub(r";(?=\s+[A-Z][a-z])", ".", " ".join(kept).rstrip(".;")).removeprefix("or ").removeprefix("Or ")
    return f"{whole[:1].upper() if advice[:1].isupper() else whole[:1]}{whole[1:]}."


def _without(sentence: str, missing: Collection[re.Pattern[str]], open_mpi: bool) -> str:
    """Return a sentence without what any of `missing` is in, empty where nothing is left that says something."""
    text, end = (sentence[:-1], sentence[-1]) if sentence[-1:] in ".;" else (sentence, "")
    head, colon, named = text.partition(": ")
    if any(one.search(head) for one in missing):
        return ""
    if open_mpi and " (ROMIO), " in named:
        named = _OMPIO.sub(r"\2, \1", named)
    items = [item for item in _ITEMS.split(named) if not any(one.search(item) for one in missing)]
    if len(items) < len(_ITEMS.split(named)):
        if len(head.split()) < _STATEMENT:
            return ""
        named = ", ".join(items).removeprefix("or ").removeprefix("and ")
    return head + (colon + named if named else "") + end
