"""Access patterns against sets of bytes and plain loops."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.layers.flow.access_pattern import AccessSums, ReadBackSums
from iostrata.model.codes import UNDEFINED_UINT64, IoMode


def made(make_operations, rows):
    operations = make_operations(
        [
            {"begin": place, "end": place + 1, "moved": size, "process": process, "mode": mode}
            for place, (process, _, _, size, mode) in enumerate(rows)
        ]
    )
    offset = [UNDEFINED_UINT64 if offset is None else offset for _, _, offset, _, _ in rows]
    return replace(operations, offset=np.array(offset, np.uint64)), np.array([row[1] for row in rows], np.int32)


def access_pattern(operations, file, absolute=True):
    sums = AccessSums(absolute, exact=True)
    sums.add(operations, file, operations.offset)
    return sums.pattern()


def read_back_bytes(operations, file):
    sums = ReadBackSums(exact=True)
    sums.add(operations, file, operations.offset)
    return sums.bytes


def pattern(make_operations, offsets, size=10):
    return access_pattern(*made(make_operations, [(0, 0, offset, size, IoMode.WRITE) for offset in offsets]))


def test_sequential_strided_random(make_operations):
    found = pattern(make_operations, [0, 10, 20, 30])
    assert (found.first, found.sequential, found.strided, found.random) == (1, 3, 0, 0)
    found = pattern(make_operations, [0, 100, 200, 300])
    assert (found.first, found.sequential, found.strided, found.random) == (1, 0, 2, 1)
    found = pattern(make_operations, [0, 500, 90, 1000, 7])
    assert (found.first, found.sequential, found.strided, found.random) == (1, 0, 0, 4)
    found = pattern(make_operations, [0, 10, None, 20])
    assert (found.first, found.sequential, found.unknown) == (1, 2, 1)
    assert pattern(make_operations, []).first == 0


def test_offsets_within_a_view_tell_nothing_about_bytes(make_operations):
    operations, file = made(make_operations, [(0, 0, 0, 10, IoMode.WRITE), (1, 0, 0, 10, IoMode.WRITE)])
    assert access_pattern(operations, file).overlapping_bytes == 10
    assert access_pattern(operations, file, absolute=False).overlapping_bytes is None


def classes(rows):
    """Class the operations of each process and file by plain loops."""
    streams = {}
    for process, file, offset, size, _ in rows:
        if offset is not None and file >= 0:
            streams.setdefault((process, file), []).append((offset, size))
    counts = [0, 0, 0, 0]
    for stream in streams.values():
        gaps = [None] + [after[0] - sum(before) for before, after in itertools.pairwise(stream)]
        for place in range(len(stream)):
            if place == 0:
                counts[0] += 1
            elif gaps[place] == 0:
                counts[1] += 1
            elif gaps[place] == gaps[place - 1]:
                counts[2] += 1
            else:
                counts[3] += 1
    return tuple(counts)


ROW = st.tuples(
    st.integers(0, 2), st.integers(-1, 1), st.none() | st.integers(0, 40), st.integers(0, 12), st.sampled_from(IoMode)
)


@given(st.lists(ROW, max_size=20))
def test_bytes_equal_sets_of_bytes(make_operations, rows):
    writes = [(process, file, offset, size, IoMode.WRITE) for process, file, offset, size, _ in rows]
    found = access_pattern(*made(make_operations, writes))
    by_process, by_file, located, known = set(), set(), 0, 0
    for process, file, offset, size, _ in writes:
        if offset is not None and file >= 0:
            known += 1
            located += size
            by_process |= {(process, file, byte) for byte in range(offset, offset + size)}
            by_file |= {(file, byte) for byte in range(offset, offset + size)}
    assert found.located_bytes == located
    assert found.repeated_bytes == located - len(by_process)
    assert found.overlapping_bytes == located - len(by_file)
    assert found.unknown == len(rows) - known
    assert (found.first, found.sequential, found.strided, found.random) == classes(writes)
    assert sum(classes(writes)) == known


@given(st.lists(ROW, max_size=20))
def test_read_back_equals_sets_of_bytes(make_operations, rows):
    written, read = set(), []
    begun = set()
    for process, file, offset, size, mode in rows:
        if offset is None or file < 0:
            continue
        touched = {(process, file, byte) for byte in range(offset, offset + size)}
        if mode == IoMode.WRITE:
            begun.add((process, file))
            written |= touched
        elif mode == IoMode.READ and (process, file) in begun:
            read += touched
    assert read_back_bytes(*made(make_operations, rows)) == sum(byte in written for byte in read)


@pytest.mark.parametrize("offset", [2**63, 2**64 - 2])
def test_absurd_offsets_are_unknown(make_operations, offset):
    assert pattern(make_operations, [0, offset]).unknown == 1
