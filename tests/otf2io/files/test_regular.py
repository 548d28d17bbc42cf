"""Files that are whole, and what copies are found by."""

import pytest
from iostrata.otf2io.files.regular import FINGERPRINT_FACTOR, FINGERPRINTED, NotRegularError, is_complete, open_regular


@pytest.mark.parametrize(
    ("content", "complete"), [(b"\x02\x01", True), (b"any\x02\x01", True), (b"any\x02\x01\x00", False), (b"", False)]
)
def test_a_whole_file_ends_with_both_marks(tmp_path, content, complete):
    path = tmp_path / "1.evt"
    path.write_bytes(content)
    assert is_complete(path) == complete


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    assert not is_complete(tmp_path)
    with pytest.raises(NotRegularError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        is_complete(tmp_path / "missing")


def test_no_bit_of_a_fingerprint_is_lost():
    """Words are multiplied modulo 2^64, which only odd factors can be undone of; and all of them are whole."""
    assert int(FINGERPRINT_FACTOR) % 2 == 1
    assert FINGERPRINTED % 8 == 0
