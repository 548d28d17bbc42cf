"""The picture of a schedule that can be worked out by hand."""

import numpy as np
import pytest
from iostrata.export.runs.schedule_files import write_schedule_figure
from iostrata.runs.scheduling.comparison import compare_policies
from iostrata.runs.scheduling.jobs import PeriodicJob

pytest.importorskip("matplotlib")


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return what draws two jobs that compute for 8 s and move for 2 s, one at a time, and returns the figure."""
    jobs = [PeriodicJob(name, np.array([8.0]), np.array([2.0]), rest=3.0, period=10.0) for name in ("a", "b" * 30)]
    found = compare_policies(jobs, ["exclusive", "fair"], iterations=1)

    def draw(window=None):
        made = []
        monkeypatch.setattr("iostrata.export.runs.schedule_files.write_figure", lambda make, _: made.append(make()))
        write_schedule_figure(found, tmp_path / "a.png", window)
        return made[0]

    return draw


def boxes(collection):
    """Return left, right, lower and upper edge of each box."""
    corners = [path.vertices for path in collection.get_paths()]
    return [(*np.ptp(one, axis=0).tolist(), *one.min(axis=0).tolist()) for one in corners]


def test_boxes_are_where_jobs_wait_and_move(drawn):
    picture = drawn()
    exclusive, fair = picture.axes[:2]
    waits, moves = exclusive.collections
    # Each is as long and as high, from the left and from below.
    assert boxes(waits) == [pytest.approx((2, 0.32, 8, 0.84))]
    assert boxes(moves) == [pytest.approx((2, 0.76, 8, -0.38)), pytest.approx((2, 0.76, 10, 0.62))]
    assert moves.get_array().tolist() == [1, 1]
    waits, moves = fair.collections
    assert boxes(waits) == []
    assert boxes(moves) == [pytest.approx((4, 0.76, 8, row - 0.38)) for row in (0, 1)]
    assert moves.get_array().tolist() == pytest.approx([0.5, 0.5])
    assert moves.get_clim() == (0, 1)
    # From its begin to its end and the rest that it computes, each has a ground.
    ground = [(one.get_x(), one.get_width(), one.get_height()) for one in exclusive.patches]
    assert ground == [pytest.approx((0, 13, 0.8)), pytest.approx((0, 15, 0.8))]


def test_the_picture_is_as_high_as_its_jobs_and_says_what_each_policy_made_of_them(drawn):
    picture = drawn((1.0, None))
    assert picture.get_size_inches().tolist() == pytest.approx([11, 0.9 + 2 * (1 + 2 * 0.17)])
    axes = picture.axes[0]
    assert axes.get_xlim() == (1, 12)
    assert axes.get_ylim() == (1.5, -0.5)
    names = [one.get_text() for one in axes.get_yticklabels()]
    assert names[0] == "a"
    assert len(names[1]) == 18
    # Stretches of 1 and 15 / 13, slowdowns of 1 and 2; of 28 s that the jobs hold nodes they compute for 22 s.
    assert axes.get_title(loc="left") == "exclusive: stretch 1.07, I/O slowdown 1.41, utilization 78.6 %"
