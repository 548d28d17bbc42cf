"""Findings that counters tell of how many files there are, and on which storage they lie."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...layers.selection.window import sums_by
from ...model.arrays import Ints, Mask
from ...model.quantities import bytes_text, counted, percent_text, seconds_text
from .counted import CountedFacts
from .facts import MIB, Facts, Gain, Match
from .rule import finding

_TRANSFERS = ("read", "write")
_FILES_NAMED, _TARGETS_NAMED = 3, 8


def _small_files_counted(counters: CountedFacts, *, files: float, size: float, least_share: float) -> Iterator[Match]:
    """Find them by the bytes that a module moves on each file."""
    for group in counters.layers:
        file = counters.counters.file
        length = int(file.max()) + 1
        moved = sums_by(file, group.each("bytes"), length)
        small = (moved > 0) & (moved < size)
        if not _many(small, moved, files, least_share):
            continue
        text, count, all_of, median = _told(group.layer, moved, small, size)
        yield counters.match(
            group,
            text,
            {"small_files": count, "files_in_all": all_of, "median_file": median},
            rows=group.rows & small[file],
        )


def _many(small: Mask, moved: Ints, files: float, least_share: float) -> bool:
    """Tell whether small files are many, and enough of all on which something is moved."""
    # What is opened and moves nothing by this layer may be filled by another one.
    return bool(small.sum() >= max(files, least_share * (moved > 0).sum()))


def _told(layer: str, moved: Ints, small: Mask, size: float) -> tuple[str, int, int, float]:
    """Return the sentence about small files, how many they and all are, and the bytes moved on each (median)."""
    count, all_of, median = int(small.sum()), int((moved > 0).sum()), float(np.median(moved[small]))
    sizes = f"less than {bytes_text(size)} each, {bytes_text(median)} (median)"
    return f"{count:,} of {all_of:,} files of {layer} move {sizes}", count, all_of, median


@finding(needs=("metadata",), units={"median_file": "byte"}, counted=_small_files_counted)
def small_files(
    facts: Facts, *, files: float = 100, size: float = MIB, least_share: float = 0.5, transfers: float = 8
) -> Iterator[Match]:
    """A hundred files or more, of which most are read and written by less than 1 MiB.

    Parameters
    ----------
    files : count
        A few are opened in no time that matters.
    size : byte
        Of all that is moved on a file: below, opening it takes longer than that.
    least_share : share
        Of the files: below, most are large.
    transfers : count
        On a small file, where a trace tells: with more, it is these that take the time.

    Notes
    -----
    :In short: files are small; fewer of them.
    :Why: Each is opened, looked up and closed at the metadata servers.
    :How it is measured: Bytes moved on each file by a layer, or a module of counters; cost is all the time that the
        slowest rank spends on small ones, metadata included, but not in writes of files opened by ``O_SYNC``. Half of
        the opens and closes at least could be saved.
    :When it is wrong: Files on a node-local file system cost little.
    :What helps: Put many into one (HDF5, an archive, a container mounted as a file system), or on node-local storage.
    """
    cells, length = facts.cells, len(facts.definitions.files.id)
    for row, layer in enumerate(cells.layers):
        mine = cells.of(layer, "total") & cells.own & cells.moving & (cells.file >= 0)
        moved = sums_by(cells.file[mine], cells.columns.whole[mine], length)
        often = sums_by(cells.file[mine], cells.columns.operations[mine], length)
        small = (moved > 0) & (moved < size) & (often <= transfers)
        if not _many(small, moved, files, least_share):
            continue
        events = facts.events_of(row)
        opening = facts.seconds_of(events.taken(np.append(small, False)[events.keys[4]]))
        if opening is None or not opening.any():
            continue
        there = mine & small[cells.file]
        # Writes that wait for the storage do so in any file.
        waits = facts.trace.sums.handles.synchronous.at((cells.handle, cells.process), "count") > 0
        moving, waited = facts.rank_seconds(there & ~waits), facts.rank_seconds(there & waits)
        least, most = float(opening.max()) / 2, float((moving + opening[cells.processes]).max())
        text, count, all_of, median = _told(layer, moved, small, size)
        waiting = f" ({seconds_text(held)} of it waiting for the storage)" if (held := waited.sum()) > 0 else ""
        yield Match(
            layer,
            f"{text}; their opens and closes take {seconds_text(opening.sum())}, what is moved "
            f"{seconds_text(moving.sum() + held)}{waiting}",
            {"small_files": count, "files_in_all": all_of, "median_file": median},
            cells=there,
            cost_s=min(most, facts.run_s),
            gain=Gain((least, most), "without half of their opens and closes, and without all that is done on them"),
        )


@finding(counters_only=True, units={"files_in_all": "count"})
def file_per_process(counters: CountedFacts, *, ranks: float = 256, least_share: float = 0.9) -> Iterator[Match]:
    """Each of hundreds of ranks writes files of its own.

    Parameters
    ----------
    ranks : count
        Fewer files are opened in no time that matters.
    least_share : share
        Of the ranks, which have a file that no other one writes.

    Notes
    -----
    :In short: each process has files of its own; fewer files.
    :Why: All files are made at once by few metadata servers, and somebody has to read them back.
    :How it is measured: Files that one rank alone wrote; cost is the time that the slowest rank spends in their opens,
        closes and the like.
    :When it is wrong: Up to some thousands of files, data moves as fast as it can: there are no locks to wait for.
    :What helps: A shared file, or one a node or group of ranks (ADIOS2's BP, HDF5 subfiling, PnetCDF's subfiles).
    """
    for group in counters.groups:
        least = max(ranks, least_share * counters.processes)
        if group.direction != "write" or group.operations < least:
            continue
        file, rank = group.users
        alone = (np.bincount(file)[file] == 1) & (rank >= 0)
        who = np.unique(rank[alone])
        if len(who) < least:
            continue
        yield counters.match(
            group,
            f"{len(who):,} of {counters.processes:,} ranks write {int(alone.sum()):,} files by {group.layer} that no "
            "other rank writes",
            {"writing_ranks": len(who), "files_in_all": int(alone.sum())},
            rows=group.rows & np.isin(counters.counters.file, file[alone]),
            kinds=("meta",),
        )


@finding(counters_only=True, units={"stripes": "count", "stripes_that_help": "count"})
def few_stripes(counters: CountedFacts, *, each: float = 2**30, least_share: float = 0.5) -> Iterator[Match]:
    """A large file lies on fewer than half as many storage targets as its bytes and its ranks could use.

    Parameters
    ----------
    each : byte
        Moved on a target: more than this takes longer than to open one more object.
    least_share : share
        Of the targets that could be used: from half of them on there is little to gain.

    Notes
    -----
    :In short: large files have few stripes; more of them.
    :Why: Each target has the bandwidth of some disks, however many ranks write.
    :How it is measured: Lustre's stripes of the file; one target for each 1 GiB moved, no more than ranks or than the
        file system has. Cost is the share of the time in transfers that those would take over.
    :When it is wrong: Many files at once use all targets together; a rank that writes alone gains less.
    :What helps: More stripes, from when the file is made: lfs setstripe -c COUNT on its folder, or MPI-IO's hint
        striping_factor.
    """
    for group in counters.layers:
        if group.layer != "POSIX":
            continue
        file, moved = counters.counters.file, group.each("bytes")
        total = sums_by(file, moved, int(file.max()) + 1)
        for row in np.flatnonzero(total > each).tolist():
            stripes, known = _targets(counters, row)
            if not stripes:
                continue
            rows = group.rows & (file == row)
            ranks = counters.processes if (counters.counters.rank[rows] < 0).any() else int(rows.sum())
            useful = min(int(total[row] // each), ranks, known or ranks)
            if len(stripes) >= least_share * useful:
                continue
            yield counters.match(
                group.only(rows),
                f"{bytes_text(int(total[row]))} of {ranks:,} ranks lie on {counted(len(stripes), 'storage target')} "
                f"({', '.join(map(str, stripes[:4]))}) where {useful} could take part,",
                {"bytes": int(total[row]), "stripes": len(stripes), "stripes_that_help": useful},
                kinds=_TRANSFERS,
                share=1 - len(stripes) / useful,
            )


@finding(counters_only=True, units={"slower": "times", "storage_target": "number", "targets": "count"})
def slow_target(
    counters: CountedFacts, *, slower: float = 2.0, targets: float = 4, least_bytes: float = MIB
) -> Iterator[Match]:
    """Files on a storage target take twice as long a byte as those on the others.

    Parameters
    ----------
    slower : times
        As long a byte as the median of the targets.
    targets : count
        Of fewer nobody knows what is usual.
    least_bytes : byte
        On a target: for less, the time of a byte is that of a call.

    Notes
    -----
    :In short: a storage target is slower than the others; another one.
    :Why: A target that is degraded, full or in use by others holds up all that have a file or a stripe on it.
    :How it is measured: Time over bytes of each file of POSIX by Lustre's targets, that of a file with several stripes
        over all of them; of a target the median of its files, without those that lie on a slower one, too. Several
        that are slow are told together: they may have one server. Cost is what the slowest rank would save.
    :When it is wrong: Files of another kind, such as a log, may lie on one target by chance.
    :What helps: Tell the administrators the target's number; make the files on others (lfs setstripe -o, pools).
    """
    for group in counters.groups:
        if group.module != "POSIX":
            continue
        moved, took = group.each("bytes"), counters.counters.time(f"{group.direction}_time")
        by_target = _rows_by_target(counters, np.flatnonzero(moved > 0).tolist())
        if len(by_target) < targets:
            continue
        # Files of many stripes lie on the same targets.
        of_files = {on: float(np.median(took[[*on]] / moved[[*on]])) for on in set(map(tuple, by_target.values()))}
        much = {target: on for target, on in by_target.items() if sum(map(moved.item, on)) >= least_bytes}
        pace = {target: of_files[tuple(on)] for target, on in much.items()}
        if len(pace) < targets:
            continue
        usual = float(np.median(list(pace.values())))
        slow = _to_blame(
            by_target,
            {one: pace[one] for one in pace if 0 < slower * usual <= pace[one]},
            took / np.maximum(moved, 1) >= slower * usual,
        )
        # Where most are slow, the median is none of what is usual.
        if not slow or 2 * len(slow) > len(pace):
            continue
        on = np.isin(np.arange(len(moved)), [row for one in slow for row in by_target[one]])
        share = int(moved[on].sum()) / max(1, group.bytes)
        yield counters.match(
            group,
            f"{_slow_text(slow, pace, usual)} as long a byte as the median of {len(pace)} targets: "
            f"{percent_text(share)} of what is moved by {group.direction}s, "
            f"{seconds_text(float(took[on].sum()))} over all ranks,",
            {
                "storage_target": slow[0],
                "storage_targets": slow,
                "targets": len(pace),
                "slower": pace[slow[0]] / usual,
                "bytes": int(moved[on].sum()),
            },
            rows=group.rows & on,
            share=1 - usual / pace[slow[0]],
            named=_FILES_NAMED,
        )


def _to_blame(by_target: dict[int, list[int]], pace: dict[int, float], slow: Mask) -> list[int]:
    """Return of targets of some pace, the slowest first, those whose files are not slow by another one of these."""
    found, rest = list[int](), {target: set(by_target[target]) for target in pace}
    late = set(np.flatnonzero(slow).tolist())
    while rest:
        # The one all of whose files are slow, and of several with the same files all.
        first = max(rest, key=lambda one: (len(rest[one] & late) / len(rest[one]), pace[one]))
        mine = rest[first]
        found += [one for one, on in rest.items() if on == mine]
        left = {one: on - mine for one, on in rest.items()}
        rest = {one: on for one, on in left.items() if 2 * len(on & late) > len(on)}
    return sorted(found, key=lambda one: -pace[one])


def _slow_text(slow: list[int], pace: dict[int, float], usual: float) -> str:
    """Return which storage targets are slow, the slowest first, and how many times as long they take."""
    times = f"{pace[slow[0]] / usual:.1f} times"
    if len(slow) == 1:
        return f"storage target {slow[0]} takes {times}"
    more = f", … ({len(slow)} in all)" if len(slow) > _TARGETS_NAMED else ""
    return f"storage targets {', '.join(map(str, slow[:_TARGETS_NAMED]))}{more} take up to {times}"


def _rows_by_target(counters: CountedFacts, rows: Sequence[int]) -> dict[int, list[int]]:
    """Return for each storage target the rows of counters whose file lies on it."""
    found: dict[int, list[int]] = {}
    for row in rows:
        for one in _targets(counters, int(counters.counters.file[row]))[0]:
            found.setdefault(one, []).append(row)
    return found


def _targets(counters: CountedFacts, file: int) -> tuple[list[int], int]:
    """Return the storage targets of a file, none where they are not known, and how many there are in all, 0 unknown."""
    properties = counters.definitions.files.properties[file]
    stripes = [int(one) for one in properties.get("Storage targets", "").split()]
    return stripes, max(0, int(properties.get("Storage targets in all", 0)))
