"""What loops over operations decide one by one, against what columns of all of them say."""

import pytest
from iostrata.model.codes import IoMode


@pytest.mark.parametrize("window", [(2.0, 4.0), (1.0, 6.0), None])
def test_operations_count_where_they_have_time_in_common_with_the_window(make_trace, window):
    """Also those of no duration: at its begin, and at its end where that is the trace's."""
    spans = [(begin, end) for begin in range(7) for end in range(begin, 7)]
    rows = [
        {"handle": 0, "begin": begin, "end": end, "mode": IoMode.READ if begin == end else IoMode.WRITE, "moved": 1}
        for begin, end in spans
    ]
    trace = make_trace([("POSIX", "/s/a", -1)], rows, length=6, ticks_per_second=1)
    trace = trace if window is None else trace.select(window=window)
    inside = trace.scope.window.overlaps(trace.operations)
    layer = trace.layers["POSIX"]
    for direction, brief in (("read", True), ("write", False)):
        of = [there for there, (begin, end) in zip(inside.tolist(), spans, strict=True) if (begin == end) is brief]
        assert layer.statistics(direction).operations == sum(of) > 0
