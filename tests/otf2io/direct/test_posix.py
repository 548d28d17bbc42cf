"""Reading files by the system's own calls."""

import ctypes

import numpy as np
import pytest
from iostrata.otf2io.direct import posix


@pytest.mark.parametrize("at_once", [1, 7, 50, 1000])
@pytest.mark.parametrize(("count", "room"), [(50, 64), (64, 50), (0, 64), (300, 300)])
def test_no_more_than_was_asked_for_is_read_however_little_comes_at_once(
    monkeypatch: pytest.MonkeyPatch, at_once: int, count: int, room: int
) -> None:
    """File systems in user space and of networks may give less than all; what is behind the room is not ours."""
    content = bytes(range(1, 201))

    def pread(_file: int, target: int, asked: int, position: int) -> int:
        part = content[int(position) : int(position) + min(int(asked), at_once)]
        ctypes.memmove(int(target), part, len(part))
        return len(part)

    monkeypatch.setattr(posix, "_pread", pread)
    out = np.zeros(room + 100, np.uint8)
    expected = content[5 : 5 + min(count, room)]
    read = getattr(posix.read_bytes, "py_func", posix.read_bytes)
    assert read(3, 5, count, out[:room]) == len(expected)
    assert out.tobytes() == expected.ljust(room + 100, b"\0")
