"""Functions of I/O libraries by what they do: which regions of an archive are calls that become operations and handles.

A new function is a word in a line of `LIBRARIES`, where ``*`` stands for anything; the first line with a word that fits
says what a function does.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import translate
from functools import cached_property
from typing import Final

import numpy as np

from ...model.arrays import Codes, Frozen, Links, Mask, Octets, named_columns
from ...model.stream.calls import FILE_IO, FILE_IO_METADATA


class Kind(IntEnum):
    """What a function does; the first three are modes of operations (`IoMode`)."""

    READ = 0
    WRITE = 1
    FLUSH = 2
    OTHER = 3
    """Nothing that is counted, but other libraries may be called inside."""
    OPEN = 4
    CREATE = 5
    CLOSE = 6
    WAIT = 7
    """It completes non-blocking operations."""


@dataclass(frozen=True)
class Library:
    """A library of I/O, which becomes a layer.

    Attributes
    ----------
    identification, name : str
        Of its paradigm.
    functions : str
        A line for each kind: its name, then names of functions and patterns.
    collective : str
        Patterns of functions that are collective where no parameter says it.
    parallel, os : bool
        Class of the paradigm, and whether it is the operating system's own interface.
    common : bool
        Whether a program's own functions may bear such names as well: then a region has to say that it does I/O.
    """

    identification: str
    name: str
    functions: str
    collective: str = ""
    parallel: bool = True
    os: bool = False
    common: bool = False

    @cached_property
    def patterns(self) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
        """What names of functions of each kind are like."""
        lines = (line.split() for line in self.functions.splitlines() if line.strip())
        return tuple((Kind[kind], _pattern(words)) for kind, *words in lines)

    def kind_of(self, name: str) -> Kind | None:
        """Return what a function does; None where it is none of the library's."""
        return next((kind for kind, pattern in self.patterns if pattern.match(name)), None)


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, words)) or r"\b\B")


LIBRARIES: Final = (
    Library(
        "netCDF",
        "NetCDF",
        """
        OPEN   nc_open nc_open_par* nc_open_mem* nc__open*
        CREATE nc_create nc_create_par* nc_create_mem nc__create*
        CLOSE  nc_close nc_close_memio nc_abort
        OTHER  nc_get_var_chunk_cache*
        READ   nc_get_var* nc_get_rec
        WRITE  nc_put_var* nc_put_rec
        FLUSH  nc_sync
        OTHER  nc_*
        """,
    ),
    Library(
        "PnetCDF",
        "PnetCDF",
        """
        OPEN   ncmpi_open
        CREATE ncmpi_create
        CLOSE  ncmpi_close ncmpi_abort
        READ   ncmpi_get_var* ncmpi_iget_var* ncmpi_mget_var*
        WRITE  ncmpi_put_var* ncmpi_iput_var* ncmpi_bput_var* ncmpi_mput_var*
        FLUSH  ncmpi_sync ncmpi_flush
        WAIT   ncmpi_wait ncmpi_wait_all
        OTHER  ncmpi_*
        """,
        collective="*_all",
    ),
    Library(
        "ADIOS",
        "ADIOS2",
        """
        OPEN   adios2_open*
        CLOSE  adios2_close*
        READ   adios2_get adios2_get_by_name
        WRITE  adios2_put adios2_put_by_name
        FLUSH  adios2_flush adios2_flush_all
        OTHER  adios2_*
        """,
    ),
    Library(
        "HDF5",
        "HDF5",
        """
        OPEN   H5Fopen* H5Freopen* H5Dopen* H5Gopen* H5Oopen*
        CREATE H5Fcreate* H5Dcreate* H5Gcreate*
        CLOSE  H5Fclose* H5Dclose* H5Gclose* H5Oclose* H5Idec_ref
        READ   H5Dread*
        WRITE  H5Dwrite*
        FLUSH  H5Fflush* H5Dflush*
        WAIT   H5ESwait
        OTHER  H5*
        """,
    ),
    Library(
        "MPI-IO",
        "MPI I/O",
        """
        OPEN   MPI_File_open
        CLOSE  MPI_File_close
        OTHER  MPI_File_*_end
        READ   MPI_File_read* MPI_File_iread*
        WRITE  MPI_File_write* MPI_File_iwrite*
        FLUSH  MPI_File_sync
        OTHER  MPI_File_*
        """,
        collective="*_all *_all_begin *_ordered *_ordered_begin",
    ),
    Library(
        "ISOC",
        "ISO C I/O",
        """
        OPEN   fopen fopen64 fdopen freopen freopen64
        CLOSE  fclose
        READ   fread fread_unlocked fgets fgetc getc fscanf vfscanf
        WRITE  fwrite fwrite_unlocked fputs fputc putc fprintf vfprintf
        FLUSH  fflush
        """,
        parallel=False,
        common=True,
    ),
    Library(
        "POSIX",
        "POSIX I/O",
        """
        OPEN   open open64 openat openat64
        CREATE creat creat64
        CLOSE  close
        READ   read pread pread64 readv preadv preadv64 preadv2
        WRITE  write pwrite pwrite64 writev pwritev pwritev64 pwritev2
        FLUSH  fsync fdatasync sync_file_range
        """,
        parallel=False,
        os=True,
        common=True,
    ),
)

BYTES, HANDLE, PARENT, FILE, NAME, COLLECTIVE, REQUEST, FAILED = range(8)
"""Parameters of calls; see ``docs/guide/calls.rst``."""
PARAMETERS: Final = {
    f"iostrata:{name}": code
    for code, name in enumerate(("bytes", "handle", "parent", "file", "name", "collective", "request", "failed"))
}


_MAY_BE: Final = re.compile("|".join(pattern.pattern for one in LIBRARIES for _, pattern in one.patterns))


def plain_name(name: str) -> str:
    """Return a function's name without what tracers write around it: types, parameters, its source."""
    words = name.partition("[")[0].partition("(")[0].split()
    return words[-1].lstrip("*&") if words else ""


class CalledFunctions(Frozen):
    """Regions of an archive that are calls of libraries without I/O records, and the parameters that calls have.

    Attributes
    ----------
    region : uint32 (n,)
        Global ids, ascending.
    library : int32 (n,)
        Places in `LIBRARIES`.
    kind : uint8 (n,)
        `Kind`.
    collective : bool (n,)
        Where no parameter says it.
    beside : bool (n,)
        Whether the library has I/O records as well: then only calls without one inside count.
    parameter : uint32 (p,)
        Global ids, ascending.
    code : uint8 (p,)
        What each of them is, a value of `PARAMETERS`.
    """

    region: Codes
    library: Links
    kind: Octets
    collective: Mask
    beside: Mask
    parameter: Codes
    code: Octets

    @property
    def opens(self) -> Mask:
        """Whether a region opens a handle, bool (n,)."""
        return np.isin(self.kind, (Kind.OPEN, Kind.CREATE))

    @property
    def libraries(self) -> tuple[int, ...]:
        """Places in `LIBRARIES` of those that are called."""
        return tuple(np.unique(self.library).tolist())


FunctionColumns: Final = named_columns(CalledFunctions, "FunctionColumns")
"""The same as compiled loops take it."""


def called_functions(
    regions: Iterable[tuple[int, str, int]], parameters: Mapping[int, str], recorded: Iterable[str], every: bool = False
) -> CalledFunctions | None:
    """Return the regions that are calls; None where there are none that do more than `Kind.OTHER`.

    Parameters
    ----------
    regions : iterable of (int, str, int)
        Global id, name and ``OTF2_RegionRole``.
    parameters : mapping of int to str
        Names of parameters by their global ids.
    recorded : iterable of str
        Layers that have handles of their own: their calls have I/O records as well.
    every : bool
        Whether those of their calls that transfer are wanted all the same, where single ones have no record.
    """
    recorded = set(recorded)
    libraries = [(number, one, one.identification in recorded) for number, one in enumerate(LIBRARIES)]
    left = [each for each in libraries if every or not each[2]]
    found = []
    for region, name, role in regions:
        plain = plain_name(name)
        if not _MAY_BE.match(plain):
            continue
        says_io = role in (FILE_IO, FILE_IO_METADATA) or name == f"{plain}()"
        call = _call(plain, [one for one in left if says_io or not one[1].common])
        if call is not None:
            found.append((region, *call))
    if all(kind == Kind.OTHER for _, _, kind, *_ in found):
        return None
    ids, library_of, kind_of, together, beside_of = zip(*sorted(found), strict=True)
    known = sorted((one, PARAMETERS[name]) for one, name in parameters.items() if name in PARAMETERS)
    own = np.array(ids, np.uint32), np.array(library_of, np.int32), np.array(kind_of, np.uint8)
    how = np.array(together, np.bool_), np.array(beside_of, np.bool_)
    told = np.array([one for one, _ in known], np.uint32), np.array([code for _, code in known], np.uint8)
    return CalledFunctions(*own, *how, *told)


def _call(name: str, libraries: Iterable[tuple[int, Library, bool]]) -> tuple[int, Kind, bool, bool] | None:
    """Return library, kind, whether it is collective and beside I/O records of a function; None for one to leave out.

    Of the first library that has it; each comes with its number and whether it has I/O records.
    """
    for number, library, beside in libraries:
        kind = library.kind_of(name)
        if kind is not None:
            collective = _pattern(library.collective.split()).match(name) is not None
            return (number, kind, collective, beside) if kind <= Kind.FLUSH or not beside else None
    return None
