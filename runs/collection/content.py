"""Where the traces are that a user means, and what tells whether one has changed."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

SUFFIXES: Final = (".otf2",)
"""Of files that are a trace, or the anchor of one, where a folder is searched."""
_EVENTS: Final = ".evt"
_AT_ONCE: Final = 1 << 20


def find_traces(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """Give each trace that some paths mean, once, in the order of the paths.

    A file is a trace. A folder is searched for traces, in all folders below it too; one that holds event files and no
    anchor, as an aborted recording leaves it, is given itself, and so is one in which nothing is found, so that whoever
    reads it can say what is wrong with it.
    """
    seen: set[str] = set()
    for path in map(Path, paths):
        found = False
        for trace in _below(path) if path.is_dir() else (path,):
            found = True
            if (name := os.path.abspath(trace)) not in seen:
                seen.add(name)
                yield Path(name)
        if not found and (name := os.path.abspath(path)) not in seen:
            seen.add(name)
            yield Path(name)


def _below(folder: Path) -> Iterator[Path]:
    """Give the traces in a folder and below, in the order of their names."""
    walked: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            status = here.stat()
            with os.scandir(here) as entries:
                known = sorted((entry.name, entry.is_dir()) for entry in entries)
        except OSError:
            continue
        # Links may lead in circles.
        if (status.st_dev, status.st_ino) in walked:
            continue
        walked.add((status.st_dev, status.st_ino))
        traces = [name for name, is_folder in known if not is_folder and name.endswith(SUFFIXES)]
        yield from (here / name for name in traces)
        if not traces and any(name.endswith(_EVENTS) for name, _ in known):
            yield here.parent if here != folder else here
        events = {Path(name).stem for name in traces}
        waiting += [here / name for name, is_folder in reversed(known) if is_folder and name not in events]


def trace_name(path: Path) -> str:
    """Return what a run is called: the folder of an anchor, with its name unless that is Score-P's own, or the file.

    >>> trace_name(Path("/scratch/run 7/traces.otf2")), trace_name(Path("/scratch/ior.darshan"))
    ('run 7', 'ior')
    """
    if path.suffix in SUFFIXES:
        return path.parent.name if path.stem == "traces" else f"{path.parent.name}/{path.stem}"
    return path.stem or path.name


def trace_files(path: Path) -> Iterator[Path]:
    """Give the files of a trace in the order of their names: an anchor and all that has its name, or a folder."""
    if path.is_dir():
        roots = [path]
    else:
        yield path
        if path.suffix not in SUFFIXES:
            return
        base = path.with_suffix("")
        beside = (base.with_suffix(suffix) for suffix in (".def", ".marker"))
        yield from (one for one in beside if one.is_file())
        roots = [base] if base.is_dir() else []
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders.sort()
            yield from (Path(folder, name) for name in sorted(names))


def content_hash(path: Path) -> tuple[str, int]:
    """Return the hash of all files of a trace, with their names, and how many bytes they have.

    Raises OSError if one cannot be read.
    """
    digest = hashlib.blake2b(digest_size=16)
    size = 0
    for file in trace_files(path):
        # A pipe or a device has no content of its own, and reading one may wait for ever.
        if not stat.S_ISREG(file.stat().st_mode):
            continue
        digest.update(os.fsencode(os.path.relpath(file, path.parent)) + b"\0")
        with file.open("rb", buffering=0) as stream:
            while part := stream.read(_AT_ONCE):
                digest.update(part)
                size += len(part)
        digest.update(size.to_bytes(8, "little"))
    return digest.hexdigest(), size
