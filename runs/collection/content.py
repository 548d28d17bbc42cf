"""Where the traces are that a user means, and what tells whether one has changed."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from ...inputs.recognition import Recorder, find_recorder, recorders
from ...model.errors import TraceError
from .tables import is_collection

_ANCHOR: Final = ".otf2"
_EVENTS: Final = ".evt"
_MEMBERS: Final = (".def", ".marker", ".snap", _EVENTS)
"""Suffixes of the other files of an archive."""
_AT_ONCE: Final = 1 << 20


def find_traces(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """Give each trace that some paths mean, once, in the order of the paths.

    A file is a trace. A folder is searched, in all folders below it too but those of collections: for anchors, and for
    files that another recorder wrote, found by their content; where a recorder writes a file a process, its files in a
    folder are one trace, the folder. One that holds event files and no anchor, as an aborted recording leaves it, is
    given itself. Paths where there is nothing come last, so that whoever reads them can say what is wrong.

    Raises TraceError if there is nothing at any of the paths.
    """
    seen: set[str] = set()
    known = tuple(recorders())
    nothing: list[Path] = []
    for path in map(Path, paths):
        found = False
        for trace in _below(path, known) if path.is_dir() else (path,) if os.path.lexists(path) else ():
            found = True
            if (name := os.path.abspath(trace)) not in seen:
                seen.add(name)
                yield Path(name)
        if not found:
            nothing.append(path)
    if nothing and not seen:
        what = (
            f"no trace in the folder {nothing[0]}" if nothing[0].is_dir() else f"no such file or folder: {nothing[0]}"
        )
        raise TraceError(f"{what}; give an anchor (*.otf2), what another recorder wrote, or a folder with some of them")
    for path in nothing:
        if (name := os.path.abspath(path)) not in seen:
            seen.add(name)
            yield Path(name)


def traces_below(folder: Path) -> list[Path]:
    """Return the first two traces below a folder, or one; none where a trace can be opened by the folder itself."""
    if not folder.is_dir() or any(one.suffix == _ANCHOR for one in folder.iterdir()):
        return []
    found = list(islice(_below(folder, tuple(recorders())), 2))
    return [] if folder in found else found


def _below(folder: Path, recorders_known: tuple[Recorder, ...]) -> Iterator[Path]:
    """Give the traces in a folder and below, in the order of their names."""
    walked: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            status = here.stat()
            with os.scandir(here) as entries:
                # `DirEntry.is_dir` fails at a link to itself.
                known = sorted((one.name, (Path(one) if one.is_symlink() else one).is_dir()) for one in entries)
        except OSError:
            continue
        # Links may lead in circles.
        if (status.st_dev, status.st_ino) in walked or is_collection(here):
            continue
        walked.add((status.st_dev, status.st_ino))
        files = [name for name, is_folder in known if not is_folder]
        anchors = {Path(name).stem for name in files if name.endswith(_ANCHOR)}
        yield from _traces_in(here, files, recorders_known, here if here == folder else here.parent)
        waiting += [here / name for name, is_folder in reversed(known) if is_folder and name not in anchors]


def _traces_in(
    here: Path, files: Sequence[str], recorders_known: tuple[Recorder, ...], unfinished: Path
) -> Iterator[Path]:
    """Give the traces that the files of a folder are; one without its anchor is `unfinished`.

    What other recorders wrote beside an anchor is given file by file, for the folder itself is then the archive.
    """
    anchors = [name for name in files if name.endswith(_ANCHOR)]
    yield from (here / name for name in anchors)
    if not anchors and any(name.endswith(_EVENTS) for name in files):
        yield unfinished
    together, alone, whole = False, False, None if anchors else find_recorder(here, recorders_known)
    for path in (here / name for name in files if not name.endswith((_ANCHOR, *_MEMBERS))):
        recorder = find_recorder(path, recorders_known)
        if recorder is not None and (anchors or not (recorder.folders or recorder is whole)):
            alone = True
            yield path
        elif recorder is not None and not together:
            together = True
            yield here
    # The files of some folders are nothing by themselves.
    if whole is not None and not (together or alone):
        yield here


def trace_name(path: Path) -> str:
    """Return what a run is called: the folder of an anchor, with its name unless that is Score-P's own, or the file.

    >>> trace_name(Path("/scratch/run 7/traces.otf2")), trace_name(Path("/scratch/ior.darshan"))
    ('run 7', 'ior')
    """
    if path.suffix == _ANCHOR:
        return path.parent.name if path.stem == "traces" else f"{path.parent.name}/{path.stem}"
    return path.stem or path.name


def trace_files(path: Path) -> Iterator[Path]:
    """Give the files of a trace in the order of their names: an anchor and all that has its name, or a folder.

    Of a folder in which a recorder leaves a file a process these are its own: what is below it are other traces.
    """
    if path.is_dir():
        own = sorted(one for one in path.iterdir() if one.is_file())
        known = tuple(recorders())
        found = (find_recorder(one, known) for one in own)
        if any(recorder is not None and recorder.folders for recorder in found):
            yield from own
            return
        roots = [path]
    else:
        yield path
        if path.suffix != _ANCHOR:
            return
        base = path.with_suffix("")
        beside = (base.with_suffix(suffix) for suffix in (".def", ".marker"))
        yield from (one for one in beside if one.is_file())
        roots = [base] if base.is_dir() else []
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders.sort()
            yield from (Path(folder, name) for name in sorted(names))


def content_hash(path: Path, ends: int | None = None, most: int | None = None) -> tuple[str, int]:
    """Return the hash of all files of a trace, with their names, and how many bytes they have.

    With `ends` only so many bytes at the begin and at the end of each file go into the hash, beside its size, and with
    `most` only so many files.

    Raises OSError if one cannot be read.
    """
    digest = hashlib.blake2b(digest_size=16)
    size = 0
    for file in islice(trace_files(path), most):
        # A pipe or a device has no content of its own, and reading one may wait for ever; nor has a link to nothing.
        if (file != path and not file.exists()) or not stat.S_ISREG(file.stat().st_mode):
            continue
        name = path.name if file is path else os.path.relpath(file, path.parent)
        digest.update(os.fsencode(name) + b"\0")
        with file.open("rb", buffering=0) as stream:
            if ends is None:
                while part := stream.read(_AT_ONCE):
                    digest.update(part)
                    size += len(part)
            else:
                length = os.fstat(stream.fileno()).st_size
                for start in (0, max(0, length - ends)):
                    digest.update(os.pread(stream.fileno(), ends, start))
                size += length
        digest.update(size.to_bytes(8, "little"))
    return digest.hexdigest(), size
