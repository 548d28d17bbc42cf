"""Where a running job is followed: files that grow, folders of them, sockets that are listened at, standard input."""

import os
import socket
import stat
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Final

from ..model.errors import SelectionError
from .records.intake import Intake
from .records.lines import LineReader

PIECE: Final = 2**18
"""Bytes that are read at a time."""
MOST_STREAMS: Final = 4096
"""Connections, or files of a folder, at a time."""
SUFFIXES: Final = (".jsonl", ".json", ".csv")
"""Of the files of a folder that are followed."""


class LiveSource(ABC):
    """Something that is followed."""

    @abstractmethod
    def read(self) -> bool:
        """Read a piece of what is there, without waiting, and tell whether there may be more."""

    def descriptors(self) -> list[int]:
        """Return the file descriptors to wait at for more; none where one has to look again."""
        return []

    @abstractmethod
    def finished(self) -> bool:
        """Tell whether nothing more is to be expected."""

    @abstractmethod
    def close(self) -> None:
        """Take what is left as the end of the input, and give everything back."""


class FileSource(LiveSource):
    """A file that grows; one that is cut or replaced is read from its beginning."""

    def __init__(self, path: Path, intake: Intake) -> None:
        self._path = path
        self._reader = LineReader(intake)
        self._descriptor = _open(path)
        self._position = 0

    def read(self) -> bool:
        data = os.read(self._descriptor, PIECE)
        if data:
            self._position += len(data)
            self._reader.feed(data)
            return True
        return self._began_anew()

    def _began_anew(self) -> bool:
        """Look whether the file is shorter than what was read of it, or another one has its name."""
        with suppress(OSError, SelectionError):
            there, own = os.stat(self._path), os.fstat(self._descriptor)
            if (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino):
                if there.st_size >= self._position:
                    return False
                os.lseek(self._descriptor, 0, os.SEEK_SET)
            else:
                descriptor = _open(self._path)
                os.close(self._descriptor)
                self._descriptor = descriptor
            self._position = 0
            self._reader.truncated()
            return True
        return False

    def finished(self) -> bool:
        return self._reader.ended

    def close(self) -> None:
        self._reader.finish()
        os.close(self._descriptor)


class FolderSource(LiveSource):
    """The files of a folder, such as one a node; new ones may appear."""

    def __init__(self, path: Path, intake: Intake) -> None:
        self._path = path
        self._intake = intake
        self._files: dict[str, FileSource] = {}

    def read(self) -> bool:
        for name in self._names():
            new, path = name not in self._files and name.endswith(SUFFIXES), self._path / name
            # One that cannot be read keeps none of the others from being followed.
            with suppress(OSError):
                if new and path.is_file() and len(self._files) < MOST_STREAMS:
                    self._files[name] = FileSource(path, self._intake)
        read = [file.read() for file in self._files.values()]
        return any(read)

    def _names(self) -> list[str]:
        with suppress(OSError):
            return sorted(os.listdir(self._path))
        return []

    def finished(self) -> bool:
        return bool(self._files) and all(file.finished() for file in self._files.values())

    def close(self) -> None:
        for file in self._files.values():
            file.close()


class StreamSource(LiveSource):
    """A stream that is open, such as standard input."""

    def __init__(self, descriptor: int, intake: Intake) -> None:
        self._descriptor = descriptor
        self._reader = LineReader(intake)
        self._ended = False

    def read(self) -> bool:
        if self._ended or not select([self._descriptor], [], [], 0)[0]:
            return False
        try:
            data = os.read(self._descriptor, PIECE)
        except ConnectionError:
            data = b""
        if not data:
            self._ended = True
            self._reader.finish()
            return False
        self._reader.feed(data)
        return True

    def descriptors(self) -> list[int]:
        return [] if self._ended else [self._descriptor]

    def finished(self) -> bool:
        return self._ended

    def close(self) -> None:
        if not self._ended:
            self._reader.finish()


class SocketSource(LiveSource):
    """A socket that is listened at, and all that have connected to it, each a stream of its own."""

    def __init__(self, listening: socket.socket, intake: Intake, path: Path | None = None) -> None:
        listening.setblocking(False)
        self._listening = listening
        self._intake = intake
        self._path = path
        self._open: dict[socket.socket, StreamSource] = {}
        self._any = False

    def read(self) -> bool:
        with suppress(BlockingIOError):
            while len(self._open) < MOST_STREAMS:
                connection, _ = self._listening.accept()
                self._open[connection] = StreamSource(connection.fileno(), self._intake)
                self._any = True
        read = [stream.read() for stream in self._open.values()]
        for connection in [one for one, stream in self._open.items() if stream.finished()]:
            del self._open[connection]
            connection.close()
        return any(read)

    def descriptors(self) -> list[int]:
        return [self._listening.fileno(), *(one for stream in self._open.values() for one in stream.descriptors())]

    def finished(self) -> bool:
        return self._any and not self._open

    def close(self) -> None:
        for connection, stream in self._open.items():
            stream.close()
            connection.close()
        self._listening.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def open_source(name: str, intake: Intake) -> LiveSource:
    """Open a source by its name: a file or folder, ``unix:PATH``, ``tcp:HOST:PORT``, or ``-`` for standard input.

    Raises SelectionError if there is no such source, or OSError.
    """
    kind, _, rest = name.partition(":")
    if name == "-":
        return StreamSource(sys.stdin.fileno(), intake)
    if kind == "unix" and rest:
        return SocketSource(_unix_socket(Path(rest)), intake, Path(rest))
    if kind == "tcp":
        return SocketSource(_tcp_socket(name, rest), intake)
    path = Path(name)
    return FolderSource(path, intake) if path.is_dir() else FileSource(path, intake)


def _unix_socket(path: Path) -> socket.socket:
    """Listen at a path; a socket that nobody listens at any more makes room."""
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket():
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                try:
                    probe.connect(str(path))
                except ConnectionRefusedError:
                    path.unlink()
                else:
                    raise SelectionError(f"unix:{path}: another program listens there; give another path")
        before = os.umask(0o177)
        try:
            found.bind(str(path))
        finally:
            os.umask(before)
        found.listen()
    except BaseException as error:
        found.close()
        if isinstance(error, OSError):
            raise SelectionError(f"unix:{path}: {error.strerror or error}; give a path in a folder of yours") from None
        raise
    return found


def _tcp_socket(name: str, place: str) -> socket.socket:
    host, _, port = place.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise SelectionError(f"{name}: give tcp:HOST:PORT, such as tcp:127.0.0.1:5555")
    try:
        return socket.create_server((host or "127.0.0.1", int(port)))
    except OSError as error:
        raise SelectionError(f"{name}: {error.strerror or error}; give another host or port") from None


def _open(path: Path) -> int:
    """Open a file for reading; a pipe, which would be waited for, is none."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SelectionError(f"{path}: not a file that grows; give a file, a folder, unix:PATH, tcp:HOST:PORT or -")
    return descriptor
