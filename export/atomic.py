"""Files that are there whole or not at all: written beside their target, then renamed over it."""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from ..model.errors import OutputError
from ..model.interrupts import kept_interrupts

_ADVICE: Final = {
    errno.ENOSPC: "free some space or write to another folder",
    errno.EDQUOT: "free some space or write to another folder",
    errno.EFBIG: "raise the limit on file sizes (ulimit -f) or write less, for example with a lower sampling frequency",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that you may write to",
    errno.ENOENT: "create the folder first",
    errno.ENOTDIR: "choose a path whose folders are folders",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "choose a path without circular links",
}


_MEMBERS: Final = (".def", ".marker")
"""Suffixes of the files that stand beside an anchor."""
_ARCHIVE: Final = (".otf2", ".def", ".evt", ".snap", ".marker")
"""Suffixes of the files of a trace, which no result replaces."""

_WAITING: Final[ContextVar[list[tuple[Path, Path]] | None]] = ContextVar("waiting", default=None)
"""Files that are complete, and where each belongs, while others are written that are to appear with them."""


@contextmanager
def written_together() -> Iterator[None]:
    """Have what `atomic_file` writes inside appear when the block ends without an error, all of it or nothing.

    Whatever ends the block early, an interrupt included, removes what was written and leaves what stood in its place.
    Raises OutputError where one of the files cannot be put into its place.
    """
    waiting: list[tuple[Path, Path]] = []
    token = _WAITING.set(waiting)
    try:
        yield
        with kept_interrupts([]):
            _put_in_place(waiting)
    finally:
        _WAITING.reset(token)
        for temporary, _ in waiting:
            _remove(temporary)


def _put_in_place(waiting: list[tuple[Path, Path]]) -> None:
    """Rename all files; where one cannot be, put back what stood in the place of those before it."""
    with ExitStack() as undo:
        aside: list[Path] = []
        for number, (temporary, target) in enumerate(waiting, 1):
            try:
                # After the last one nothing comes that could fail.
                if number < len(waiting) and os.path.lexists(target):
                    aside.append(temporary.with_suffix(".before"))
                    target.rename(aside[-1])
                    undo.callback(aside[-1].replace, target)
                elif number < len(waiting):
                    undo.callback(_remove, target)
                temporary.replace(target)
            except OSError as error:
                raise output_error(target, error) from error
        undo.pop_all()
    for before in aside:
        _remove(before)


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the path of a new, empty file; rename it to `path` when the block ends without an error.

    The new file stands in the folder of `path`, so that the rename cannot fail half-way; a symbolic link at `path` is
    followed. Inside of `written_together` it waits for the others. Whatever ends the block early, an interrupt
    included, removes the new file and leaves what stood at `path` as it was. Raises OutputError where `path` is a
    folder, a device or a pipe, and for every OSError of the block or of the rename.

    Parameters
    ----------
    path : path
        Where the result belongs. A regular file that stands there is replaced and hands on its permissions.

    Yields
    ------
    Path
        Where to write meanwhile.
    """
    if os.fspath(path).endswith("/"):
        raise OutputError(f"cannot write {os.fspath(path)!r}: it names a folder; give the name of a file in it")
    try:
        target = Path(os.path.realpath(path))
        permissions = _permissions(target, path)
        temporary = target.parent / f".iostrata-{secrets.token_hex(8)}.part"
        # No more than the file that it replaces allows, from the first moment on.
        mode = 0o666 if permissions is None else permissions & 0o666 | 0o600
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
    except ValueError as error:  # a NUL in the path, which no system call takes
        raise OutputError(f"cannot write {os.fspath(path)!r}: {error}; choose another name") from error
    except OSError as error:
        raise output_error(path, error) from error
    try:
        # On a network file system a close can fail, too.
        os.close(descriptor)
        yield temporary
        if permissions is not None:
            with suppress(OSError):  # some network file systems know no permissions
                temporary.chmod(permissions)
        waiting = _WAITING.get()
        if waiting is None:
            temporary.replace(target)
        else:
            waiting.append((temporary, target))
    except OSError as error:
        _remove(temporary)
        raise output_error(path, error) from error
    except BaseException:
        _remove(temporary)
        raise


@contextmanager
def atomic_archive(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the anchor of a new OTF2 archive in a new folder; move the archive to `path` when the block ends.

    Nothing that stands there is replaced. Whatever ends the block early, an interrupt included, leaves nothing behind.
    Raises OutputError where something of an archive at `path` is there already, where its name is not that of an
    anchor, and for every OSError of the block or of the move.

    Parameters
    ----------
    path : path
        ``NAME.otf2``; beside it come ``NAME.def``, ``NAME.marker`` where there is one, and the folder ``NAME``.

    Yields
    ------
    Path
        Where to write the anchor meanwhile, and the rest beside it.
    """
    target = Path(path)
    if target.suffix != _ARCHIVE[0]:
        raise OutputError(f"cannot write {str(target)!r}: an anchor is called NAME{_ARCHIVE[0]}; choose another name")
    base = target.with_suffix("")
    products = [base, *(base.with_name(base.name + suffix) for suffix in _MEMBERS), target]
    for product in products:
        if os.path.lexists(product):
            raise _taken(target, product)
    work = target.parent / f".iostrata-{secrets.token_hex(8)}.part"
    moved: list[Path] = []
    try:
        work.mkdir()
        yield work / target.name
        with kept_interrupts([]):
            # The folder comes first: where two archives are written to one path, the second move of it fails. The
            # anchor comes last: only with it is there an archive.
            for product in products:
                made = work / product.name
                if made.exists():
                    if product != base and os.path.lexists(product):
                        raise _taken(target, product)
                    made.rename(product)
                    moved.append(product)
            moved.clear()
    except OSError as error:
        raise output_error(path, error) from error
    finally:
        for product in moved:
            with suppress(OSError):
                product.rename(work / product.name)
        shutil.rmtree(work, ignore_errors=True)


def archive_content(anchor: Path) -> tuple[int, tuple[str, ...]]:
    """Return the bytes of an archive that is being written, alone in its folder, and what stands beside its anchor."""
    beside = [one for one in sorted(anchor.parent.iterdir()) if one != anchor]
    size = sum(file.stat().st_size for file in anchor.parent.rglob("*") if file.is_file())
    return size, tuple(one.name + "/" * one.is_dir() for one in beside)


def output_error(path: str | os.PathLike[str], error: OSError) -> OutputError:
    """Return the error that says in one line why `path` cannot be written, and what to do."""
    if isinstance(error, OutputError):
        return error
    # A library may wrap the system's words in its own.
    reason = (
        (os.strerror(error.errno) if error.errno else error.strerror)
        or " ".join(str(error).split())
        or type(error).__name__
    )
    advice = _ADVICE.get(error.errno or 0, "write to another folder")
    above = [*Path(path).parents]
    if error.errno == errno.ENOENT and os.path.isdir(above[0]):
        reason, advice = f"no file can be made in {above[0]}", "write to another folder"
    # Of a path that names nothing that could be, pathlib raises what these take for "no".
    files = [one for one in (Path(path), *above) if os.path.exists(one) and not os.path.isdir(one)]
    if error.errno in (errno.ENOTDIR, errno.EEXIST) and files:
        reason, advice = f"{files[0]} is a file, not a folder", "choose another name"
    return OutputError(f"cannot write {os.fspath(path)!r}: {reason[0].lower()}{reason[1:]}; {advice}")


def _taken(target: Path, product: Path) -> OutputError:
    return OutputError(f"cannot write {str(target)!r}: {str(product)!r} is there already; choose another name")


def _permissions(target: Path, path: str | os.PathLike[str]) -> int | None:
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise OutputError(f"cannot write {os.fspath(path)!r}: it is a folder; give the name of a file in it")
    if target.suffix in _ARCHIVE:
        # Most likely the trace that was read, by a link.
        raise OutputError(f"cannot write {os.fspath(path)!r}: {target} belongs to a trace; choose another name")
    if not stat.S_ISREG(mode):
        # Renaming over a device would put a plain file in its place, for everybody on the machine.
        raise OutputError(f"cannot write {os.fspath(path)!r}: it is a device, pipe or socket; give the name of a file")
    return stat.S_IMODE(mode)


def _remove(temporary: Path) -> None:
    with suppress(OSError):
        temporary.unlink()
