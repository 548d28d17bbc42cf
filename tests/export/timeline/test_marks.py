"""Marks: few stay as they are, many are merged without losing counts, bytes or extent."""

import numpy as np
import pytest
from iostrata.export.timeline.marks import Marks, merged_marks


def marks_of(rows: list[tuple[int, int, int, int, float]]) -> Marks:
    row, kind, start, end, volume = (np.array(column) for column in zip(*rows, strict=True))
    return Marks(row, kind, start, end, np.ones(len(rows), np.int64), volume.astype(float))


def test_few_marks_stay_as_they_are():
    marks = marks_of([(0, 1, 5, 6, 1.0), (0, 1, 7, 8, 2.0)])
    merged, gap = merged_marks(marks, 2)
    assert gap == 0
    assert len(merged) == 2


@pytest.mark.parametrize("most", [40, 12, 8])
def test_merged_marks_keep_counts_bytes_and_extent(most):
    random = np.random.default_rng(1)
    start = random.integers(0, 2**32 - 2**26, 500)
    marks = Marks(
        random.integers(0, 4, 500),
        random.integers(1, 3, 500),
        start,
        start + random.integers(0, 2**24, 500),
        np.ones(500, np.int64),
        random.uniform(0, 9, 500),
    )
    merged, gap = merged_marks(marks, most)
    assert len(merged) <= most
    assert gap > 0
    for row in range(4):
        for kind in (1, 2):
            before, after = ((m.row == row) & (m.kind == kind) for m in (marks, merged))
            assert merged.count[after].sum() == before.sum()
            assert merged.bytes[after].sum() == pytest.approx(marks.bytes[before].sum())
            assert merged.start[after].min() == marks.start[before].min()
            assert merged.end[after].max() == marks.end[before].max()
            edges = np.argsort(merged.start[after])
            assert (merged.start[after][edges][1:] - merged.end[after][edges][:-1] > gap).all()
