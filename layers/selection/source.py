"""Which source reads a path: an OTF2 archive, or what another recorder wrote."""

import os
from pathlib import Path
from typing import Final, NoReturn

from ...model.errors import SelectionError, TraceError
from ...model.stream.source import Source, Tally

_OTF2: Final = b"OTF2\0"
_LOOKED_AT: Final = 16
"""Files of a folder of which one may tell what is in it."""


class NoTimesError(TraceError):
    """Raised where operations are wanted of a recording without times; `source` has its counters."""

    def __init__(self, source: Source) -> None:
        self.source = source
        recording = source.definitions.recording
        what = "no I/O at all: the program did none that it watches"
        if Tally.of(source).damage.damaged:
            what = "nothing that can be read; copy it again"
        if recording.counters:
            what = f"only counters, without times, which layers and info show; {recording.remedy or 'record again'}"
        super().__init__(f"{source.path}: {recording.recorder} recorded {what}")


def open_timed_source(path: str | os.PathLike[str], engine: str = "auto", calls: str = "auto") -> Source:
    """Open as `open_source`; NoTimesError where the recording has no times."""
    source = open_source(path, engine, calls)
    if source.definitions.recording.reason("times"):
        raise NoTimesError(source)
    return source


def open_source(path: str | os.PathLike[str], engine: str = "auto", calls: str = "off") -> Source:
    """Open what any recorder wrote, found by its content.

    Parameters
    ----------
    engine : {"auto", "direct", "library"}
        What decodes the events of an OTF2 archive; for other recorders there is only "auto".
    calls : {"auto", "all", "off"}
        Whether the calls of libraries that an OTF2 archive has as regions only become operations. Their handles are
        found by looking for what opens them first. With "all" also calls without an I/O record of libraries with such.

    Raises
    ------
    TraceError
        If nothing that can be used is there.
    SelectionError
        If the `engine` cannot read it.
    """
    from ...otf2io.source import open_source as open_archive

    if not _may_be_other(path):
        return open_archive(path, engine, calls)
    from ...inputs.recognition import find_recorder, open_recorded

    recorder = find_recorder(path)
    if recorder is None:
        if Path(path).is_file():
            _refuse_file(Path(path))
        _refuse_folder_of_others(Path(path))
        return open_archive(path, engine, calls)
    if engine != "auto":
        raise SelectionError(
            f"{path}: the engine {engine!r} is for OTF2, this is of {recorder.name}; leave out --engine"
        )
    return open_recorded(path, recorder)


def _refuse_file(path: Path) -> NoReturn:
    """Raise TraceError that says why a file is no trace."""
    from ...inputs.inflating import GZIP
    from ...inputs.recognition import HEAD, recorders
    from ...inputs.table.files import lacking_columns
    from ...inputs.table.names import lack_text

    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise TraceError(f"{path} is empty: its recording did not end properly or the disk was full; record again")
    if missing := lacking_columns(head, path):
        raise TraceError(f"{path}: {lack_text(missing)}")
    known = ", ".join(one.name for one in recorders())
    if head.startswith(GZIP):
        raise TraceError(
            f"{path}: what is compressed in it is damaged, or of no recorder that is known here ({known}); copy it "
            "again, or give what it was made of"
        )
    raise TraceError(
        f"{path} is not an OTF2 anchor, nor what another recorder writes that is known here ({known}); give the path "
        "of an archive's *.otf2 file, of a log, or of a table of operations (layer, rank, start, end, bytes)"
    )


def _refuse_folder_of_others(folder: Path) -> None:
    """Raise TraceError for a folder of files that are each a recording of their own."""
    from ...inputs.recognition import find_recorder, recorders

    try:
        files = sorted(one for one in folder.iterdir() if one.is_file())
    except OSError:
        return
    known = tuple(recorders())
    for one in files[:_LOOKED_AT]:
        recorder = find_recorder(one, known)
        if recorder is not None:
            raise TraceError(
                f"{folder} is a folder; give one of the recordings in it, such as {one.name} ({recorder.name}), or "
                "take all together by iostrata collect"
            )


def _may_be_other(path: str | os.PathLike[str]) -> bool:
    """Tell whether the path is there and is no OTF2 archive; without a look at what only OTF2's own reader explains."""
    given = Path(path)
    try:
        if given.is_dir():
            with os.scandir(given) as entries:
                return not any(entry.name.endswith(".otf2") for entry in entries)
        if not given.is_file() or (given.suffix == ".otf2" and not given.stat().st_size):
            return False
        with given.open("rb") as file:
            return file.read(7)[2:] != _OTF2
    except (OSError, ValueError):
        return False
