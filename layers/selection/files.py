"""Which files belong to the application: one table of rules that set the others aside, and its use."""

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Frozen, Integers, Links, Mask
from ...model.codes import BLOCK_IO
from ...model.definitions import Definitions
from ...model.errors import SelectionError


class FileRule(NamedTuple):
    """Files that are set aside: `pattern` is a shell pattern for the full name of a file or of a folder above it.

    As in ``fnmatch``, ``*`` also stands for slashes; case counts.
    """

    pattern: str
    reason: str


_PYTHON: Final = "Python and its packages"
DEFAULT_RULES: Final = (
    FileRule("/proc", "process information of the kernel"),
    FileRule("/sys", "device information of the kernel"),
    FileRule("/dev", "devices and shared memory"),
    FileRule("/etc", "system configuration"),
    FileRule("/usr", "installed software"),
    *(FileRule(f"/lib{bits}", "system libraries") for bits in ("", "32", "64", "x32")),
    *(FileRule(f"*/lib{bits}/python[0-9]*", _PYTHON) for bits in ("", "64")),
    *(FileRule(pattern, _PYTHON) for pattern in ("*/site-packages", "*/__pycache__", "*.py", "*pyvenv.cfg")),
    FileRule("/tmp/ompi.*", "session folder of Open MPI"),
    FileRule("*/ompi.*/pid.*", "session folder of Open MPI"),
    FileRule("*.sm", "shared memory of the MPI library"),
    FileRule("*.locktest.*", "lock test of the MPI library"),
    FileRule("*/pmix*", "process management of the MPI library"),
    FileRule("<STD*>", "standard stream"),
    FileRule("pipe:*", "pipe"),
    FileRule("socket:*", "socket"),
    FileRule("anon_inode:*", "event queue of the kernel"),
)
"""Rules of what is no application file; of several that match, the first counts."""

WITHOUT_FILE: Final = "handle without a file (standard streams, pipes, handles that stand for all)"
WITHOUT_HANDLE: Final = "operation on a handle that the trace does not define"
WITHOUT_LAYER: Final = "handle of a paradigm that the trace does not define"


class FileSelection(Frozen):
    """What is set aside, and why.

    Attributes
    ----------
    files : str
        What was selected: ``application``, ``all`` or a pattern.
    reasons : tuple of (pattern, reason)
        Why something is set aside; the pattern is empty where no file name is behind it.
    handle_reason : int32 (handles,)
        Row in `reasons`, −1 for a handle that is selected.
    file_reason : int32 (files,)
        The same for files, by their names alone.
    rules : tuple of FileRule
        The table behind ``application``.
    """

    files: str
    reasons: tuple[FileRule, ...]
    handle_reason: Links
    file_reason: Links
    rules: tuple[FileRule, ...] = DEFAULT_RULES

    @property
    def selected(self) -> Mask:
        """Whether a handle is selected, bool (handles,)."""
        return self.handle_reason < 0

    def reason_of(self, handle: Links) -> Links:
        """Return the row in `reasons` of operations or events on these handles, −1 where they are selected, int32 (n,).

        Those on a handle that the trace does not define, −1, are always set aside.
        """
        return np.append(self.handle_reason, np.int32(self.undefined_handle)).take(handle)

    def named(self, counts: Integers) -> dict[str, int]:
        """Return how often each reason counts, by its name; only reasons that occur."""
        found: dict[str, int] = {}
        for rule, count in zip(self.reasons, counts.tolist(), strict=True):
            if count:
                name = f"{rule.pattern}: {rule.reason}" if rule.pattern else rule.reason
                found[name] = found.get(name, 0) + count
        return found

    @property
    def undefined_handle(self) -> int:
        """Row in `reasons` for operations on a handle that the trace does not define."""
        return len(self.reasons) - 1


def select_files(
    definitions: Definitions, files: str = "application", rules: Iterable[tuple[str, str]] = DEFAULT_RULES
) -> FileSelection:
    """Tell selected handles from those set aside, by the names of their files.

    Raises SelectionError if `files` is no pattern, or no file of the trace matches it.

    Parameters
    ----------
    files : str
        ``application``: all that `rules` do not set aside and that has a file. ``all``: everything. Otherwise a shell
        pattern for full names, which replaces the rules: files that do not match are set aside.
    rules : iterable of (pattern, reason)
        The table behind ``application``.
    """
    if not isinstance(files, str) or not files:
        raise SelectionError(f"files {files!r}: give 'application', 'all' or a pattern such as '*/out_*.nc'")
    names, known = definitions.files.name, tuple(FileRule(*rule) for rule in rules)
    table: tuple[FileRule, ...] = {"all": (), "application": known}.get(files, (FileRule(files, _NO_MATCH),))
    file_reason = _first_match(names, table) if files in ("all", "application") else _by_pattern(names, files)
    handles = definitions.handles
    without_file = -1 if files == "all" else len(table)
    if len(names):
        handle_reason = np.where(handles.file >= 0, file_reason[handles.file], np.int32(without_file))
    else:
        handle_reason = np.full(len(handles.file), without_file, np.int32)
    if files == "application" and definitions.recording.called:
        # Calls that do not tell their file are on files of the application as far as anybody knows.
        named = [one.identification in definitions.recording.called for one in definitions.paradigms]
        handle_reason[(handles.file < 0) & np.array([*named, False])[handles.paradigm]] = -1
    if files == "application":
        # A device is what is looked at where its own requests are recorded.
        block = np.array([*(one.identification == BLOCK_IO for one in definitions.paradigms), False])[handles.paradigm]
        handle_reason[block & (handles.file >= 0)] = -1
        file_reason[handles.file[block & (handles.file >= 0)]] = -1
    handle_reason[handles.paradigm < 0] = len(table) + 1
    reasons = (*table, FileRule("", WITHOUT_FILE), FileRule("", WITHOUT_LAYER), FileRule("", WITHOUT_HANDLE))
    return FileSelection(files, reasons, handle_reason.astype(np.int32), file_reason, known)


_NO_MATCH: Final = "file that the chosen pattern does not match"


def _by_pattern(names: tuple[str, ...], pattern: str) -> Links:
    """Return -1 for each name that matches and 0 for others, int32 (n,); SelectionError where none does."""
    matches = re.compile(translate(pattern)).match
    reason = np.array([-1 if matches(name) else 0 for name in names], np.int32)
    if len(names) and not (reason < 0).any():
        wider = "*" + pattern.lstrip("*")
        raise SelectionError(
            f"files {pattern!r}: no file of the trace matches; patterns are for full names, such as {wider!r}"
        )
    return reason


def _first_match(names: tuple[str, ...], rules: tuple[FileRule, ...]) -> Links:
    """Return for each name the row of the first rule that matches it or a folder above it, −1 where none does."""
    reason = np.full(len(names), -1, np.int32)
    for row in reversed(range(len(rules))):
        matches = _matcher(rules[row].pattern)
        for file, name in enumerate(names):
            if matches(name):
                reason[file] = row
    return reason


@cache
def _matcher(pattern: str) -> Callable[[str], object]:
    """Return what tells whether a name, or a folder above it, matches a pattern."""
    return re.compile(f"{translate(pattern)}|{translate(pattern.rstrip('/') + '/*')}").match
