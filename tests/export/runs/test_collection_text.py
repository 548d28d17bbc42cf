"""What is said of a collection that was made, and of the traces that it could not read."""

from io import StringIO

import pytest
from iostrata.export.collection import CollectionWritten, FailedTrace
from iostrata.export.runs.collection_text import print_collected
from iostrata.export.terminal.console import stdout_console


@pytest.mark.parametrize(("failed", "more"), [(9, None), (10, None), (11, 1), (14, 4)])
def test_ten_traces_that_cannot_be_used_are_named_and_the_others_counted(failed, more):
    jobs = tuple(FailedTrace(job=f"/run{number}", reason="cut") for number in range(failed))
    written = CollectionWritten("runs", read=3, unchanged=0, failed=jobs, runs=3, bytes=5000)
    out = StringIO()
    print_collected(written, stdout_console(out))
    first, *lines = out.getvalue().splitlines()
    assert first == f"3 traces read, {failed} that cannot be used"
    named = [f"  /run{number}: cut" for number in range(min(failed, 10))]
    assert lines[:-2] == [*named, *([] if more is None else [f"  and {more} more; the table job says why"])]
