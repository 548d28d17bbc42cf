"""Findings of what is read again, and of streams of ISO C by counters."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from ...layers.flow.access_pattern import AccessPattern
from ...layers.selection.window import sums_by
from ...model.quantities import bytes_text, factor_text, percent_text, seconds_text
from .counted import LIBRARIES, CountedFacts, CountedGroup
from .facts import MIB, MUCH_OF_RUN, Facts, Match
from .rule import finding

_AS_ASKED: Final = 1.1
"""Bytes that a lower layer reads over those asked of it, up to which it is what was asked that it reads."""


def _redundant_counted(counters: CountedFacts, *, often: float, least_bytes: float) -> Iterator[Match]:
    """Find files of which more is read than there is up to the largest offset read."""
    for group in counters.groups:
        if group.direction != "read" or not group.has("max_byte_read"):
            continue
        file, moved = counters.counters.file, group.each("bytes")
        read = sums_by(file, moved, int(file.max()) + 1)
        # What a library reads beyond what it is asked for is ``read-amplification``.
        above = [sums_by(file, one.each("bytes"), len(read)) for one in counters.groups if _is_above(one, group)]
        read = np.min([read, *(np.where(one > 0, one, read) for one in above)], axis=0)
        reach = np.zeros(len(read), np.int64)
        np.maximum.at(reach, file, (counters.counters.count("max_byte_read") + 1) * group.rows)
        again = (read >= least_bytes) & (read >= often * reach) & (reach > 0)
        if not again.any():
            continue
        moved_again, distinct = int(read[again].sum()), int(reach[again].sum())
        yield counters.match(
            group,
            _read_again(moved_again, distinct, group.layer),
            {"read_bytes": moved_again, "distinct_bytes": distinct, "times": moved_again / distinct},
            rows=group.rows & again[file],
            share=1 - distinct / moved_again,
        )


def _is_above(upper: CountedGroup, group: CountedGroup) -> bool:
    """Tell whether what one layer is asked to read becomes what another one reads."""
    return group.layer == "POSIX" and upper.layer in LIBRARIES and upper.direction == "read"


@finding(explained_by={"read-back": 0.9}, units={"times": "times"}, counted=_redundant_counted)
def redundant_reads(facts: Facts, *, often: float = 1.5, least_bytes: float = MIB) -> Iterator[Match]:
    """Files are read one and a half times over or more.

    Parameters
    ----------
    often : times
        Bytes read over those read for the first time by any process; by counters, over the bytes from the start of the
        file to the last one read. Where each file is read twice, others are read once beside it.
    least_bytes : byte
        A header is read by every process; less counts where it takes much of the run.

    Notes
    -----
    :In short: the same bytes are read again; reading them once.
    :Why: The same bytes come from the file system again.
    :How it is measured: Bytes that a layer reads where any process has read before, as far as offsets are known,
        against all that it reads; by counters, bytes read over all processes against the largest offset read. Cost is
        the share of the time that one reading would not take.
    :When it is wrong: What is in memory already costs little; a file that was read, written and read again changed.
    :What helps: Read once and keep it in memory; or let one rank read it and hand it on (MPI_Bcast).
    """
    for row, layer in enumerate(facts.cells.layers):
        reads = facts.cells.of(layer, "read")
        found = _pattern_of_reads(facts, row) if (reads & facts.cells.own).any() else None
        if found is None:
            continue
        again, read = found.overlapping_bytes or 0, found.located_bytes
        distinct, cost = read - again, facts.longest_s(reads) * again / max(1, read)
        if read < often * distinct or (read < least_bytes and cost < MUCH_OF_RUN * facts.run_s):
            continue
        own = percent_text((found.repeated_bytes or 0) / again)
        yield Match(
            layer,
            f"{_read_again(read, distinct, layer)}, {own} of what is read again by the process that had read it",
            {"direction": "read", "read_bytes": read, "distinct_bytes": distinct, "times": read / distinct},
            cells=reads,
            cost_s=cost,
        )


def _pattern_of_reads(facts: Facts, row: int) -> AccessPattern | None:
    """Return where a layer's reads lie, or those of the lowest layer that they become, where only that one tells it.

    Of a layer that writes as well nobody knows then whether what it reads again has changed meanwhile, and where more
    is read below, it is a library that reads again.
    """
    layer = facts.cells.layers[row]
    writes, asked = (facts.cells.bytes(facts.cells.of(layer, way)) for way in ("write", "read"))
    for lower in (row, *(() if writes else range(len(facts.cells.layers) - 1, row, -1))):
        if (row, lower, "read") in facts.sums.access:
            found = facts.sums.access[row, lower, "read"].pattern()
            as_asked = lower == row or found.located_bytes <= _AS_ASKED * asked
            if found.located_bytes and found.overlapping_bytes is not None and as_asked:
                return found
    return None


def _read_again(read: int, distinct: int, layer: str) -> str:
    """Return how often bytes are read over, in words."""
    times = factor_text(read / distinct, 3)
    return f"{bytes_text(read)} are read of {bytes_text(distinct)}: {times} times over by {layer}"


@finding(counters_only=True)
def heavy_stdio(counters: CountedFacts, *, least_share: float = 0.1, least_bytes: float = MIB) -> Iterator[Match]:
    """A tenth of the bytes goes through ISO C's streams.

    Parameters
    ----------
    least_share : share
        Of the bytes that all modules move in the direction: less is a log.
    least_bytes : byte
        Less is moved in no time that matters.

    Notes
    -----
    :In short: data goes through streams of ISO C; POSIX or MPI-IO.
    :Why: Streams copy through a small buffer, of one process each, and know nothing of the file system.
    :How it is measured: Bytes of STDIO over those of STDIO and of the operating system's own interface.
    :When it is wrong: Large calls bypass the buffer, and a stream with a large one (setvbuf) is as good as ``write``.
    :What helps: Read and write data by POSIX, MPI-IO or a format library; setvbuf with a buffer of 1 MiB or more.
    """
    groups = list(counters.groups)
    for group in groups:
        if group.module != "STDIO" or group.bytes < least_bytes:
            continue
        system = sum(one.bytes for one in groups if one.direction == group.direction and one.module == "POSIX")
        share = group.bytes / (group.bytes + system)
        if share < least_share:
            continue
        seconds, _ = counters.longest(group.rows, group.direction)
        yield counters.match(
            group,
            f"{percent_text(share)} of all that is {'read' if group.direction == 'read' else 'written'} goes through "
            f"streams of ISO C, {bytes_text(group.bytes)} in {group.operations:,} calls and {seconds_text(seconds)},",
            {"bytes": group.bytes, "operations": group.operations, "share": share},
        )
