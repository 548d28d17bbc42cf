"""The bytes of an HDF5 file on disk, kept so that a full disk does not bring the process down.

The HDF5 library cannot close a file whose last writes failed: its objects remain half open, and the process crashes
when it ends. So the library writes through `HDF5Storage`, to which every write succeeds; the first real failure is
remembered and raised by `check`, between two calls of the library, which then closes the file in good order.
"""

import os
from pathlib import Path
from typing import Self


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

    @property
    def size(self) -> int:
        """Size of the file in bytes."""
        return self._size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)
        if kind is None:
            self.check()
