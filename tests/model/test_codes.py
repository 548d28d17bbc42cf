"""Numbers of the format, as the official library has them."""

import _otf2
import pytest
from iostrata.model import codes
from iostrata.model.codes import IoFlag, IoMode, IoRecord, Status
from otf2.enums import GroupType, IoCreationFlag, IoOperationFlag, IoOperationMode, IoStatusFlag, LocationGroupType


def value(one):
    return int(getattr(one, "value", one))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (IoMode.READ, IoOperationMode.READ),
        (IoMode.WRITE, IoOperationMode.WRITE),
        (IoMode.FLUSH, IoOperationMode.FLUSH),
        (IoFlag.NON_BLOCKING, IoOperationFlag.NON_BLOCKING),
        (IoFlag.COLLECTIVE, IoOperationFlag.COLLECTIVE),
        (codes.PROCESS, LocationGroupType.PROCESS),
        (codes.COMM_SELF, GroupType.COMM_SELF),
        (codes.CREATE_FILE, IoCreationFlag.CREATE),
        (codes.APPEND, IoStatusFlag.APPEND),
        (codes.SYNCHRONOUS, value(IoStatusFlag.SYNC) | value(IoStatusFlag.DATA_SYNC)),
        (codes.UNDEFINED_UINT64, _otf2.UNDEFINED_UINT64),
        (codes.UNDEFINED_UINT32, _otf2.UNDEFINED_UINT32),
        (codes.UNDEFINED_UINT8, _otf2.UNDEFINED_UINT8),
    ],
)
def test_numbers_are_those_of_the_library(ours, theirs):
    assert int(ours) == value(theirs)


def test_the_14_records_follow_each_other_and_each_is_told_apart():
    assert list(IoRecord) == list(range(69, 83))
    assert [name.name for name in IoRecord][::13] == ["CREATE_HANDLE", "TRY_LOCK"]
    assert set(codes.METADATA_NAMES) == {one for one in IoRecord if "OPERATION" not in one.name}
    assert len(set(Status)) == 3


def test_sums_of_the_most_that_is_believed_fit_into_64_bits():
    """Of as many operations as memory can hold, or locations as there can be; and a time that is none is no time."""
    for most in (codes.MOST_BYTES, codes.MOST_EVENTS):
        assert most == 1 << 48
    assert codes.UNDEFINED_TIME == -(1 << 63)
