"""Segments that are too long, and the metrics of the paper."""

import pytest
from iostrata.runs.scores.blocks import DEFAULT_SEGMENT_S, METRICS, too_long


@pytest.mark.parametrize(
    ("there", "refused"), [(599, False), (600, False), (600 * (1 + 9e-10), False), (600.000001, True)]
)
def test_segments_longer_than_those_asked_for_are_refused_but_for_rounding(there, refused):
    found = too_long("a", there, 600.0)
    assert (found is not None) == refused
    assert found is None or found.startswith("a: it has segments of 600 s, longer than the 600 s")


def test_transfers_come_as_servers_and_as_clients_count_them_and_segments_are_of_ten_minutes():
    transfers = [f"{way}_{what}" for way in ("read", "write") for what in ("bytes", "calls")]
    metadata = ["md_read", "md_mod", "md_file_create", "md_file_delete", "md_other"]
    assert list(METRICS) == [*metadata, *transfers, *(f"osc_{one}" for one in transfers)]
    assert DEFAULT_SEGMENT_S == 600
