"""The bytes of an HDF5 file on a disk that may be full."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.export.hdf5.variables import HDF5Storage

WRITES = st.lists(st.tuples(st.integers(0, 60), st.binary(min_size=1, max_size=40)), max_size=12)


def full_disk(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@given(writes=WRITES, sound=st.integers(0, 12), reads=st.lists(st.tuples(st.integers(0, 120), st.integers(1, 120))))
def test_reads_give_back_what_was_written_also_after_the_disk_is_full(
    tmp_path: Path, writes: list[tuple[int, bytes]], sound: int, reads: list[tuple[int, int]]
) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"")
    expected = bytearray()
    with pytest.MonkeyPatch.context() as patch:
        storage = HDF5Storage(path)
        for number, (offset, data) in enumerate(writes):
            if number == sound:
                patch.setattr(os, "pwrite", full_disk)
            assert storage.seek(offset) == offset
            assert storage.write(memoryview(data)) == len(data)
            expected.extend(bytes(max(0, offset + len(data) - len(expected))))
            expected[offset : offset + len(data)] = data
        assert storage.seek(0, os.SEEK_END) == len(expected)
        for offset, length in reads:
            storage.seek(offset)
            assert storage.read(length) == bytes(expected[offset : offset + length]).ljust(length, b"\0")
            assert storage.tell() == offset + length
    if len(writes) > sound:
        with pytest.raises(OSError, match="No space left"):
            storage.check()
        with pytest.raises(OSError, match="No space left"), storage:
            pass
    else:
        with storage:
            pass
        assert path.read_bytes() == bytes(expected)


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"")
    whole = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, offset: whole(descriptor, data[:3], offset))
    with HDF5Storage(path) as storage:
        storage.seek(5)
        storage.write(b"0123456789")
    assert path.read_bytes() == bytes(5) + b"0123456789"


def test_file_is_closed_whatever_happens(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"")
    storage = HDF5Storage(path)
    with pytest.raises(ValueError, match="bug"), storage:
        raise ValueError("bug")
    with pytest.raises(OSError, match="Bad file descriptor"):
        storage.read(1)
