"""Where a running job is followed: files that grow, folders of them, sockets that are listened at, standard input."""

import errno
import math
import os
import select
import socket
import stat
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..model.errors import SelectionError
from .records.intake import Intake
from .records.lines import LineReader

PIECE: Final = 2**18
"""Bytes that are read at a time."""
MOST_STREAMS: Final = 4096
"""Connections at a time; more wait until one is closed."""
KEPT: Final = 64
"""Descriptors that connections leave to others."""
MOST_OPEN: Final = 256
"""Files of a folder up to which all stay open."""
MOST_FILES: Final = 2**16
"""Files of a folder that are followed; more are counted as left out."""
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

    def left_out(self) -> int:
        """Return how many files cannot be read, or are too many; of connections 1 where some wait for others' end."""
        return 0

    @abstractmethod
    def close(self) -> None:
        """Take what is left as the end of the input, and give everything back."""


class FileSource(LiveSource):
    """A file that grows; one that is cut or replaced is read from its beginning, and may be there later only."""

    def __init__(self, path: Path, intake: Intake) -> None:
        self._path = path
        self._reader = LineReader(intake)
        self._identity: tuple[int, int] | None = None
        self._descriptor: int | None = None
        self._position = 0

    def read(self) -> bool:
        if self._descriptor is None:
            self._descriptor = self._opened()
        if self._descriptor is None:
            return False
        data = os.read(self._descriptor, PIECE)
        if data:
            self._position += len(data)
            self._reader.feed(data)
            return True
        return self._began_anew()

    def rest(self) -> None:
        """Give the descriptor back until the file is read again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def open(self) -> None:
        """Open the file, which has to be there."""
        self._descriptor = self._opened()
        if self._descriptor is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._path))

    def _opened(self) -> int | None:
        """Return a descriptor of the file where it was left, of another one of its name at its begin; None of none."""
        try:
            descriptor = _open(self._path)
        except FileNotFoundError:
            return None
        there = os.fstat(descriptor)
        identity = there.st_dev, there.st_ino
        if self._identity is not None and (identity != self._identity or there.st_size < self._position):
            self._position = 0
            self._reader.truncated()
        os.lseek(descriptor, self._position, os.SEEK_SET)
        self._identity = identity
        return descriptor

    def _began_anew(self) -> bool:
        """Look whether the file is shorter than what was read of it, or another one has its name."""
        with suppress(OSError, SelectionError):
            there = os.stat(self._path)
            if (there.st_dev, there.st_ino) == self._identity and there.st_size >= self._position:
                return False
            descriptor = self._opened()
            if descriptor is not None:
                self.rest()
                self._descriptor = descriptor
                return True
        return False

    def finished(self) -> bool:
        return self._reader.ended

    def close(self) -> None:
        self._reader.finish()
        self.rest()


class FolderSource(LiveSource):
    """The files of a folder, such as one a node; new ones may appear, and the folder itself, too.

    Those that have more to say stay open. Where there are more files than descriptors, all are read in turn.
    """

    def __init__(self, path: Path, intake: Intake) -> None:
        self._path = path
        self._intake = intake
        self._files: dict[str, FileSource] = {}
        self._left_out: set[str] = set()
        self._sizes: dict[str, int] = {}

    def read(self) -> bool:
        more = False
        for name, size in self._names():
            if name not in self._files:
                if len(self._files) >= MOST_FILES:
                    self._left_out.add(name)
                    continue
                self._files[name] = FileSource(self._path / name, self._intake)
            if self._sizes.get(name) == size:
                continue
            # One that cannot be read keeps none of the others from being followed.
            try:
                read = self._files[name].read()
            except (OSError, SelectionError):
                self._left_out.add(name)
                continue
            self._left_out.discard(name)
            if not read:
                self._sizes[name] = size
            more = more or read
            if len(self._files) > MOST_OPEN:
                self._files[name].rest()
        return more

    def left_out(self) -> int:
        return len(self._left_out)

    def _names(self) -> list[tuple[str, int]]:
        """Return the files that are followed, with what tells whether they have changed."""
        found = []
        with suppress(OSError), os.scandir(self._path) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIXES):
                    with suppress(OSError):
                        if entry.is_file():
                            there = entry.stat()
                            found.append((entry.name, hash((there.st_size, there.st_ino))))
        return sorted(found)

    def finished(self) -> bool:
        return bool(self._files) and all(file.finished() for file in self._files.values())

    def close(self) -> None:
        for file in self._files.values():
            file.close()


class LateSource(LiveSource):
    """A path where nothing is yet: a file or a folder will be there."""

    def __init__(self, path: Path, intake: Intake) -> None:
        self._path, self._intake = path, intake
        self._source: LiveSource | None = None

    def read(self) -> bool:
        if self._source is None and self._path.exists():
            self._source = open_source(str(self._path), self._intake)
        return self._source is not None and self._source.read()

    def finished(self) -> bool:
        return self._source is not None and self._source.finished()

    def left_out(self) -> int:
        return 0 if self._source is None else self._source.left_out()

    def close(self) -> None:
        if self._source is not None:
            self._source.close()


class StreamSource(LiveSource):
    """A stream that is open, such as standard input."""

    def __init__(self, descriptor: int, intake: Intake) -> None:
        self._descriptor = descriptor
        self._reader = LineReader(intake)
        self._ended = False

    def read(self) -> bool:
        if self._ended or not _has_more(self._descriptor):
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
        # At the limit of descriptors, too, who connects waits.
        with suppress(OSError):
            while self._has_room():
                connection, _ = self._listening.accept()
                self._open[connection] = StreamSource(connection.fileno(), self._intake)
        read = [stream.read() for stream in self._open.values()]
        # A connection that says nothing, such as that of who looks whether somebody listens, is no writer.
        self._any = self._any or any(read)
        for connection in [one for one, stream in self._open.items() if stream.finished()]:
            del self._open[connection]
            connection.close()
        return any(read)

    def _has_room(self) -> bool:
        """Tell whether one more can be followed, with descriptors left for all else that this process opens."""
        lowest = os.dup(self._listening.fileno())
        os.close(lowest)
        return len(self._open) < MOST_STREAMS and lowest < _most_descriptors() - KEPT

    def left_out(self) -> int:
        return int(_has_more(self._listening.fileno()))

    def descriptors(self) -> list[int]:
        # Those that wait are no news.
        listening = [self._listening.fileno()] if self._has_room() else []
        return [*listening, *(one for stream in self._open.values() for one in stream.descriptors())]

    def finished(self) -> bool:
        return self._any and not self._open

    def close(self) -> None:
        for connection, stream in self._open.items():
            stream.close()
            connection.close()
        self._listening.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def open_source(name: str, intake: Intake, *, wait: bool = False) -> LiveSource:
    """Open a source by its name: a file or folder, ``unix:PATH``, ``tcp:HOST:PORT``, or ``-`` for standard input.

    With `wait` a file or folder may come later.

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
    if path.is_dir():
        return FolderSource(path, intake)
    if wait and not os.path.lexists(path):
        return LateSource(path, intake)
    source = FileSource(path, intake)
    source.open()
    return source


def raise_limits() -> None:
    """Allow this process as many descriptors as the system lets it have."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST_STREAMS + MOST_OPEN if hard == resource.RLIM_INFINITY else min(hard, MOST_STREAMS + MOST_OPEN)
        if soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _most_descriptors() -> float:
    """Return how many descriptors this process may have."""
    try:
        import resource
    except ImportError:
        return math.inf
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if soft == resource.RLIM_INFINITY else soft


def wait_for(descriptors: Sequence[int], seconds: float) -> None:
    """Wait until one of these has more to say, or so many seconds have passed."""
    polled = select.poll()
    for descriptor in descriptors:
        polled.register(descriptor, select.POLLIN)
    polled.poll(1000 * seconds)


def _has_more(descriptor: int) -> bool:
    polled = select.poll()
    polled.register(descriptor, select.POLLIN)
    return bool(polled.poll(0))


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
    if not port.isdecimal() or int(port) > 65535:
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
