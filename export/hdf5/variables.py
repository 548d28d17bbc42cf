"""Variables and attributes of a netCDF-4 file, with the metadata that readers of such files look for."""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Self, get_type_hints

import numpy as np
import numpy.typing as npt

from ...model.arrays import Array
from ...model.interrupts import kept_interrupts
from ...model.metrics import Metric, metrics_of


class HDF5Storage:
    """A seekable binary file for h5py's driver for file-like objects; no write to it fails.

    After the first failure, what is written stays in memory, so that the library reads back what it wrote. Callers
    call `check` after each portion they write; that bounds this memory to one portion.

    Parameters
    ----------
    path : Path
        An existing file, overwritten from its start.

    Attributes
    ----------
    interrupts : list of BaseException
        What `check` is to raise: from within the library, an exception would bring down the process.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._position = 0
        self._size = os.fstat(self._descriptor).st_size
        self._failure: OSError | None = None
        self.interrupts: list[BaseException] = []
        self._kept: list[tuple[int, bytes]] = []

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to `offset` bytes from the start, the present position or the end."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = origin + offset
        return self._position

    def tell(self) -> int:
        """Return the present position in bytes."""
        return self._position

    def write(self, data: memoryview | bytes) -> int:
        """Write all of `data` at the present position."""
        view = memoryview(data).cast("B")
        start, length = self._position, len(view)
        if self._failure is None:
            try:
                self._write_out(view)
            except OSError as failure:
                self._failure = failure
        if self._failure is not None:
            self._kept.append((start, bytes(view)))
        self._position = start + length
        self._size = max(self._size, self._position)
        return length

    def _write_out(self, view: memoryview) -> None:
        done = 0
        while done < len(view):
            done += os.pwrite(self._descriptor, view[done:], self._position + done)

    def readinto(self, buffer: memoryview) -> int:
        """Fill `buffer` from the present position, with zeros where nothing was written; return its length."""
        view = memoryview(buffer).cast("B")
        start, length = self._position, len(view)
        done = 0
        while done < length:
            part = os.pread(self._descriptor, length - done, start + done)
            if not part:
                view[done:] = bytes(length - done)
                break
            view[done : done + len(part)] = part
            done += len(part)
        for offset, data in self._kept:
            low, high = max(offset, start), min(offset + len(data), start + length)
            if low < high:
                view[low - start : high - start] = data[low - offset : high - offset]
        self._position = start + length
        return length

    def read(self, length: int) -> bytes:
        """Return `length` bytes from the present position."""
        buffer = bytearray(length)
        self.readinto(memoryview(buffer))
        return bytes(buffer)

    def truncate(self, size: int) -> int:
        """Set the size of the file to `size` bytes."""
        self._size = size
        if self._failure is None:
            try:
                os.ftruncate(self._descriptor, size)
            except OSError as failure:
                self._failure = failure
        return size

    def flush(self) -> None:
        """Do nothing: no bytes are held back."""

    def check(self) -> None:
        """Raise the first failure of a write, if there was one, and the first of `interrupts`."""
        if self.interrupts:
            raise self.interrupts[0]
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)
        if kind is None:
            self.check()


_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_CHUNK: Final = 2**16
"""Most values of a chunk, the unit of compression: 512 KiB of float64, half of HDF5's chunk cache."""
_WORTH_COMPRESSING: Final = 2**10

Attribute = str | int | float | Array

Variable = tuple[str, str, str] | tuple[str, str, str, Callable[[Any], Any]]
"""A variable of a table: name, units (or ``text``, ``count`` or ``flag``), long name, and its value of a row.

Without the last, that is the attribute of its name.
"""


def variables_of(record: type) -> list[Variable]:
    """Return a variable for each metric of a class of records; what always is an integer is a count."""
    hints = get_type_hints(record)
    kinds = {str: "text", int: "count"}
    return [(one.key, kinds.get(hints[one.name], one.unit), one.sentence, one.value) for one in metrics_of(record)]


def storable(text: str) -> str:
    r"""Return `text` with what HDF5 cannot hold as a backslash escape.

    Strings end at a NUL there and are UTF-8, which has no code for half of a surrogate pair (a byte of a file name
    that is not UTF-8 is read as one). All else, line breaks included, is left as it is.

    >>> print(storable("a\x00b\udcff"))
    a\x00b\udcff
    """
    return _UNSTORABLE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def write_attributes(target: Any, attributes: dict[str, Attribute]) -> None:
    """Set `attributes` of a group or variable; integers as int64, or as uint64 or float64 where they need it."""
    for name, value in attributes.items():
        if isinstance(value, str):
            target.attrs[name] = storable(value)
        elif isinstance(value, int):
            kind = np.int64 if value < 2**63 else np.uint64 if value < 2**64 else float
            target.attrs[name] = kind(value)
        else:
            target.attrs[name] = value


class GroupWriter:
    """Writes variables into one group of a file.

    Parameters
    ----------
    storage : HDF5Storage
        Where the file's bytes go; asked after each variable whether they arrived.
    sizes : mapping of str to int, optional
        Sizes of the dimensions that the group inherits.
    """

    def __init__(self, group: Any, storage: HDF5Storage, sizes: Mapping[str, int] | None = None) -> None:
        self._group = group
        self._storage = storage
        self._sizes = dict(sizes or {})

    def subgroup(self, name: str) -> "GroupWriter":
        """Create the group `name` in this one."""
        return GroupWriter(self._group.create_group(name), self._storage, self._sizes)

    def attributes(self, **attributes: Attribute) -> None:
        """Set attributes of the group."""
        write_attributes(self._group, attributes)

    def dimension(self, name: str, size: int) -> None:
        """Create a dimension; one of size 0 is an unlimited one, as netCDF knows no other of that size."""
        self._group.dimensions[name] = size
        self._sizes[name] = size

    def text(self, name: str, dimensions: tuple[str, ...], values: Sequence[str], **attributes: Attribute) -> None:
        """Write strings of any length; `values` in C order where there are several dimensions."""
        import h5py

        variable = self._group.create_variable(name, dimensions, dtype=h5py.string_dtype("utf-8"))
        write_attributes(variable, attributes)
        if len(values):
            column = np.empty(len(values), dtype=object)
            column[:] = [storable(value) for value in values]
            variable[...] = column.reshape(variable.shape)
        self._storage.check()

    def floats(
        self, name: str, dimensions: tuple[str, ...], values: Sequence[float | None], units: str, long_name: str
    ) -> None:
        """Write float64, in C order where there are several dimensions; NaN stands for None."""
        column = np.array([np.nan if value is None else value for value in values], np.float64)
        self.numbers(name, dimensions, column, long_name=long_name, units=units)

    def integers(
        self, name: str, dimensions: tuple[str, ...], values: Sequence[int], units: str, long_name: str
    ) -> None:
        """Write int64, in C order where there are several dimensions."""
        self.numbers(name, dimensions, np.array(values, np.int64), long_name=long_name, units=units)

    def amounts(
        self, name: str, dimensions: tuple[str, ...], values: Sequence[float], units: str, long_name: str
    ) -> None:
        """Write uint64 where all values are whole and fit it, int64 where some are negative, else float64."""
        whole = all(isinstance(value, int) for value in values)
        least, most = min(values, default=0), max(values, default=0)
        kind = np.uint64 if least >= 0 and most < 2**64 else np.int64 if least >= -(2**63) and most < 2**63 else None
        column = np.array(values, kind if whole and kind is not None else np.float64)
        self.numbers(name, dimensions, column, long_name=long_name, units=units)

    def table(
        self, dimensions: tuple[str, ...], rows: Sequence[Any], variables: Iterable[Variable], prefix: str = ""
    ) -> None:
        """Write a variable for each of `variables`, of as many rows as the dimensions have; a row may be None."""
        for name, units, long_name, *value in variables:
            of = value[0] if value else attrgetter(name)
            values = [None if row is None else of(row) for row in rows]
            if units == "text":
                self.text(prefix + name, dimensions, [one or "" for one in values], long_name=long_name)
            elif units == "count":
                self.integers(prefix + name, dimensions, [one or 0 for one in values], "1", long_name)
            elif units == "flag":
                self.flags(prefix + name, dimensions, [bool(one) for one in values], long_name)
            else:
                self.floats(prefix + name, dimensions, values, units, long_name)

    def metric(self, metric: Metric, dimensions: tuple[str, ...], values: Sequence[Any]) -> None:
        """Write the values of a metric: counts and bytes as `amounts`, all else as `floats`."""
        counted = metric.unit in ("1", "byte") and metric.adds in ("sum", "distinct")
        write = self.amounts if counted and None not in values else self.floats
        write(metric.key, dimensions, values, metric.unit, metric.sentence)

    def flags(self, name: str, dimensions: tuple[str, ...], values: Sequence[bool], long_name: str) -> None:
        """Write yes and no as 1 and 0."""
        meanings: dict[str, Attribute] = {"flag_values": np.array([0, 1], np.int8), "flag_meanings": "no yes"}
        self.numbers(name, dimensions, np.array(values, np.int8), long_name=long_name, **meanings)

    def numbers(self, name: str, dimensions: tuple[str, ...], values: Array, **attributes: Attribute) -> None:
        """Write an array of numbers whole, of any shape in C order; a floating-point one has NaN as its fill value."""
        variable = self.empty(name, dimensions, values.dtype, fill=values.dtype.kind == "f", **attributes)
        if values.size:
            variable[...] = values.reshape(variable.shape)
        self._storage.check()

    def empty(
        self, name: str, dimensions: tuple[str, ...], dtype: npt.DTypeLike, *, fill: bool, **attributes: Attribute
    ) -> Any:
        """Create a variable to be written in parts with `part`; large ones are compressed.

        Parameters
        ----------
        dimensions : tuple of str
            In this group or one above.
        fill : bool
            Whether NaN is given as ``_FillValue``. A coordinate has none by the CF conventions.
        **attributes
            Such as ``long_name`` and ``units``.
        """
        layout: dict[str, Any] = {}
        shape = tuple(self._sizes[dimension] for dimension in dimensions)
        if math.prod(shape) >= _WORTH_COMPRESSING:
            layout = {"chunks": _chunks(shape), "compression": "gzip", "compression_opts": 4, "shuffle": True}
        if fill:
            layout["fillvalue"] = np.nan
        variable = self._group.create_variable(name, dimensions, dtype=np.dtype(dtype), **layout)
        write_attributes(variable, attributes)
        return variable

    def part(self, variable: Any, where: Any, values: Array) -> None:
        """Write `values` into a part of `variable`."""
        variable[where] = values
        self._storage.check()


@contextmanager
def written_groups(path: Path) -> Iterator[GroupWriter]:
    """Write over a file that is there as netCDF-4, by its root group; an interrupt or failure is raised at the end."""
    import h5netcdf

    with HDF5Storage(path) as storage, kept_interrupts(storage.interrupts), h5netcdf.File(storage, "w") as file:
        yield GroupWriter(file, storage)


def _chunks(shape: tuple[int, ...]) -> tuple[int, ...]:
    sizes: list[int] = []
    room = _CHUNK
    for length in reversed(shape):
        sizes.append(min(length, room))
        room //= sizes[-1]
        room = max(room, 1)
    return tuple(reversed(sizes))
