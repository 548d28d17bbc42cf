"""What a batch system's accounting knows of jobs: Slurm's ``sacct -P``, or the same columns as CSV."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from ...model.document import Record
from ...model.errors import TraceError

_MOST_BYTES: Final = 2**30
_IDS: Final = ("jobid", "jobidraw", "job")
_EXCLUSIVE: Final = {"exclusive": {"yes", "true", "1", "exclusive"}, "oversubscribe": {"no"}, "shared": {"no", "0"}}
"""Columns that tell whether a job shared its nodes, and what they say where it did not."""


class JobAccount(Record):
    """A job as the batch system knew it; None for what its table does not tell."""

    state: str | None = None
    partition: str | None = None
    user: str | None = None
    exclusive: bool | None = None


@dataclass(frozen=True)
class Wanted:
    """Which jobs are to be ranked: of one of some states, partitions and users, and only those alone on their nodes."""

    states: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    exclusive: bool = False

    def has(self, account: JobAccount) -> bool:
        """Tell whether a job is one of them. CANCELLED is what Slurm calls ``CANCELLED by 1000``, too."""
        state = (account.state or "").split(" ")[0].upper()
        return (
            (not self.states or state in {one.upper() for one in self.states})
            and (not self.partitions or account.partition in self.partitions)
            and (not self.users or account.user in self.users)
            and (not self.exclusive or account.exclusive is True)
        )


class Accounting:
    """The jobs of a table of accounting."""

    def __init__(self, path: Path, accounts: Mapping[str, JobAccount], columns: Iterable[str]) -> None:
        """Take where it was read from, its jobs by their number, and the columns that it has."""
        self.path = path
        self._accounts, self._columns = accounts, frozenset(columns)

    def of(self, job: str) -> JobAccount | None:
        """Return what is known of a job; of a trace it is that of the folder or file which bears the job's number."""
        path = PurePath(job)
        names = (job, path.stem, *reversed(path.parts))
        return next((self._accounts[one] for one in names if one in self._accounts), None)

    def check(self, wanted: Wanted) -> None:
        """Raise TraceError where jobs are chosen by what the table does not tell."""
        asked = {"state": wanted.states, "partition": wanted.partitions, "user": wanted.users}
        lacking = [name for name, values in asked.items() if values and name not in self._columns]
        if wanted.exclusive and self._columns.isdisjoint(_EXCLUSIVE):
            lacking.append("Exclusive or OverSubscribe")
        if lacking:
            raise TraceError(f"{self.path}: no column {lacking[0]} to choose jobs by")


def read_accounting(path: Path) -> Accounting:
    """Read a table with a head line, its columns parted by ``|`` as ``sacct -P`` prints them, or by commas.

    Steps of jobs, such as ``4711.batch``, are left out. Raises TraceError if there is no column with the jobs' numbers.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise TraceError(f"{path}: larger than 1 GiB; ask sacct for fewer jobs")
    accounts: dict[str, JobAccount] = {}
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as text:
            head = text.readline().rstrip("\r\n")
            split = "|" if "|" in head else ","
            names = [name.strip().lower() for name in head.split(split)]
            ids = [place for place, name in enumerate(names) if name in _IDS]
            if not ids:
                raise TraceError(f"{path}: no column JobID in its first line; print it by sacct -P")
            # sacct quotes nothing: a quotation mark there belongs to a name.
            rows = csv.reader(text, delimiter=split, quoting=csv.QUOTE_NONE) if split == "|" else csv.reader(text)
            for cells in rows:
                known = dict(zip(names, (cell.strip() for cell in cells), strict=False))
                numbers = {cells[place].strip() for place in ids if place < len(cells)} - {""}
                if not any("." in known.get(name, "") for name in _IDS[:2]):
                    accounts.update(dict.fromkeys(numbers, _account(known)))
    except csv.Error as error:
        raise TraceError(f"{path}: not a table of jobs: {error}") from None
    return Accounting(path, accounts, names)


def _account(known: Mapping[str, str]) -> JobAccount:
    told = [known[name].lower() in values for name, values in _EXCLUSIVE.items() if known.get(name)]
    state, partition, user = (known.get(name) or None for name in ("state", "partition", "user"))
    return JobAccount(state, partition, user, any(told) if told else None)
