"""Findings about which files the program or a library moves bytes on, and about bytes that come back."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ...layers.flow.cells import Cells
from ...layers.selection.window import sums_by
from ...model.arrays import Integers, Ints, Mask
from ...model.quantities import bytes_text, counted, factor_text, joined, named_ranks, percent_text
from .facts import MIB, Facts, Gain, Match
from .rule import finding

LOCAL_FOLDERS: Final = ("/tmp/", "/var/tmp/", "/run/", "/local/", "/localscratch/")
"""Where files of one node usually lie."""

_AS_MUCH: Final = 0.05
"""Of what is read back, by which what is written elsewhere may differ: names of variables and headers are added."""


@finding()
def read_back(
    facts: Facts, *, least_bytes: float = MIB, least_share: float = 0.01, often: float = 2.0
) -> Iterator[Match]:
    """Processes read what they wrote themselves, once or many times over.

    Parameters
    ----------
    least_bytes : byte
        A library reads the header of a file that it has made.
    least_share : share
        Of the bytes that are read: less changes little.
    often : times
        Bytes read back over bytes written: below it is for information, as to read a file once may verify it.

    Notes
    -----
    :In short: processes read what they wrote themselves; keeping it in memory.
    :Why: What was in memory comes from the file system again.
    :How it is measured: Bytes of reads within stretches that the same process had begun to write, each read counted,
        where the trace has offsets; or all that a process reads through one layer of files that it writes through
        another one. Score-P records those of ``pread`` and ``pwrite``; those of ``read`` and ``write``
        follow from how the file was opened, the bytes moved and ``lseek``.
    :When it is wrong: A benchmark reads back on purpose; verification does, too. What was written or read without an
        offset is not seen.
    :What helps: Keep what is needed again in memory or on a node-local file system.
    """
    cells = facts.cells
    for row, layer in enumerate(cells.layers):
        back = facts.sums.read_back[row].bytes if row in facts.sums.read_back else 0
        reads = cells.of(layer, "read")
        read = cells.bytes(reads)
        if back < least_bytes or back < least_share * read:
            continue
        writes = cells.of(layer, "write")
        written = cells.bytes(writes)
        process_of_file = (cells.process.astype(np.int64) << 32) + cells.file
        reads &= np.isin(process_of_file, process_of_file[writes])
        times = back / written if written else 0.0
        many = f", {factor_text(times)} times what is written" if times >= often else ""
        cost = min(1.0, back / max(1, cells.bytes(reads))) * facts.longest_s(reads)
        yield Match(
            layer,
            f"{layer}: processes read {bytes_text(back)} that they had written themselves, "
            f"{percent_text(back / read)} of all that is read{many}",
            {
                "direction": "read",
                "read_back_bytes": back,
                "read_bytes": read,
                "written_bytes": written,
                "share": back / read,
            },
            cells=reads,
            minor=times < often,
            cost_s=cost,
            gain=Gain((cost * max(0.0, 1 - 1 / times), cost), "were it read back once, and kept in memory")
            if times
            else None,
        )
    yield from _through_other_layers(facts, least_bytes)


def _through_other_layers(facts: Facts, least_bytes: float) -> Iterator[Match]:
    """Find files that a process writes by calls of its own in one layer, and reads by some in another one alone."""
    cells = facts.cells
    mine = cells.own & cells.selected & cells.moving & (cells.file >= 0) & (cells.process >= 0)
    place = (cells.process.astype(np.int64) << 32) + cells.file
    writes = [mine & cells.of(layer, "write") for layer in cells.layers]
    for row, layer in enumerate(cells.layers):
        reads = mine & cells.of(layer, "read") & ~np.isin(place, place[writes[row]])
        found = ((_behind(cells, place, one), other) for one, other in zip(writes, cells.layers, strict=True))
        back, other = max(((reads & there, other) for there, other in found), key=lambda one: cells.bytes(one[0]))
        moved = cells.bytes(back)
        if moved < least_bytes:
            continue
        process = np.isin(cells.process, cells.process[back])
        again = cells.bytes(writes[row] & process & ~np.isin(cells.file, cells.file[back]))
        staged = abs(again - moved) <= _AS_MUCH * moved
        cost = facts.longest_s(back)
        yield Match(
            layer,
            f"{layer}: processes read {bytes_text(moved)} that they had written themselves through {other}"
            + (f", and write {bytes_text(again)} elsewhere: data is staged" if staged else ""),
            {"direction": "read", "read_back_bytes": moved, "written_bytes": again},
            cells=back,
            minor=True,
            cost_s=cost,
            gain=Gain((0.0, cost), "were it written where it goes at once, or kept in memory"),
        )


def _behind(cells: Cells, place: Ints, writes: Mask) -> Mask:
    """Return the cells that begin behind the first of some writes by the same process on the same file, (cells,)."""
    known, row = np.unique(place[writes], return_inverse=True)
    first = np.full(len(known) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, row, cells.columns.begin[writes])
    at = np.searchsorted(known, place)
    same = np.append(known, -1)[at] == place
    return np.asarray(same & (cells.columns.begin >= first[at]))


@finding(units={"inside_layers": "count", "reasons": "count"})
def stray_files(facts: Facts, *, inside: float = 100, local_bytes: float = MIB) -> Iterator[Match]:
    """I/O to system files inside of I/O calls, or to files that only one node sees.

    Parameters
    ----------
    inside : count
        Operations inside of calls: a library reads some files of the system once.
    local_bytes : byte
        Less is a lock or a socket.

    Notes
    -----
    :In short: files that are not the program's are used inside of calls; leaving them out.
    :Why: Each call pays for it, or data is lost with the node.
    :How it is measured: Operations on files set aside whose parent is an operation.
    :When it is wrong: Node-local files are right for what is needed only there.
    :What helps: Reads of /proc or configuration files at each call come from the library: switch the feature off
        (memory statistics, core files) or update the library; put TMPDIR where temporary data belongs.
    """
    yield from _system_files(facts, inside)
    yield from _local_files(facts, local_bytes)


def _local_files(facts: Facts, least_bytes: float) -> Iterator[Match]:
    """Find the program's own files that only one node can see, by their scope or their folder."""
    definitions, cells = facts.definitions, facts.cells
    files, nodes = definitions.files, np.unique(definitions.groups.node[cells.processes])
    nodes = nodes[nodes >= 0]
    if len(nodes) < 2:
        return
    local = np.array([name.startswith(LOCAL_FOLDERS) for name in files.name], np.bool_) | np.isin(files.scope, nodes)
    for layer in cells.layers:
        mask = cells.of(layer, "total") & cells.own & (cells.file >= 0) & np.append(local, False)[cells.file]
        moved, count = cells.bytes(mask), cells.operations(mask)
        if moved < least_bytes or not count:
            continue
        where = facts.where(mask)
        yield Match(
            layer,
            f"{layer} moves {bytes_text(moved)} on {joined(where['files'], where['file_count'])}, which "
            f"only one node sees",
            {"bytes": moved, "operations": count, "node_local": True},
            cells=mask,
            where=where,
        )


def _system_files(facts: Facts, least: float) -> Iterator[Match]:
    """Find operations on files that are set aside, where they run inside of calls that the program waits for.

    Others come from the start of the MPI library, the measurement or the system, and count as set aside only.
    """
    cells = facts.cells
    aside = cells.within & ~cells.selected & (cells.handle >= 0)
    reasons, parent = cells.selection.reasons, cells.attribution.parent
    for row, layer in enumerate(cells.layers):
        mask = aside & (cells.layer == row)
        inside = mask & (parent >= 0)
        count, count_inside = cells.operations(mask), cells.operations(inside)
        if count_inside < least:
            continue
        callers = _counted(facts, inside, cells.layer[parent], cells.layers)
        where = facts.where(inside)
        some = f" ({where['files'][0]}, …)" if where["files"] else ""
        yield Match(
            layer,
            f"{counted(count, f'{layer} operation')} ({bytes_text(cells.bytes(mask))}) on files that are not the "
            f"program's, {count_inside:,} of them inside {' and '.join(callers)} operations of "
            f"{named_ranks(where['ranks'])}{some}",
            {
                "operations": count,
                "bytes": cells.bytes(mask),
                "inside_operations": count_inside,
                "inside_bytes": cells.bytes(inside),
                "inside_layers": callers,
                "reasons": _counted(
                    facts, mask, cells.selection.reason_of(cells.handle), [one.reason for one in reasons]
                ),
            },
            cells=inside,
            where=where,
        )


def _counted(facts: Facts, mask: Mask, place: Integers, names: Sequence[str]) -> dict[str, int]:
    """Return the operations in some cells by the name of their place, in the order of the places."""
    places, row = np.unique(place[mask], return_inverse=True)
    counts = sums_by(row, facts.cells.columns.operations[mask], len(places))
    found: Counter[str] = Counter()
    for one, count in zip(places.tolist(), counts.tolist(), strict=True):
        found[names[one]] += count
    return dict(found)
