"""What is told of damage."""

from io import StringIO
from types import SimpleNamespace
from typing import Any, cast

import pytest
from iostrata.export.terminal.compare import _print_sides
from iostrata.export.terminal.console import damage_summary, print_damage, print_recording, stdout_console
from iostrata.model.codes import MOST_EVENTS
from iostrata.model.recording import Recording
from iostrata.model.stream.damage import DamageReport, LocationDamage


def test_a_number_of_events_that_cannot_be_is_not_repeated():
    report = DamageReport(MOST_EVENTS + 7, 5, (LocationDamage(0, 0, MOST_EVENTS, 3, "its event file is cut short"),))
    assert "promise more than any file holds" in damage_summary(report)
    stream = StringIO()
    print_damage(report, stdout_console(stream))
    assert "3 of an impossible number of events read" in stream.getvalue()


def test_a_true_loss_is_told_in_numbers():
    report = DamageReport(10, 3, (LocationDamage(0, 0, 10, 3, "its event file is cut short"),))
    assert damage_summary(report).startswith("1 damaged location: 7 of 10 events lost")


def test_what_a_file_claims_to_be_kept_of_another_recorder_does_not_act_on_the_terminal():
    stream = StringIO()
    print_recording(Recording(recorder="\x1b[1mX", amounts="\x1b[2J"), stdout_console(stream))
    print_damage(DamageReport(1, 1, (), irregular={"rows \x1b[2J": 3}), stdout_console(stream))
    recording = Recording(recorder="\x1b[1mX", remedy="\x1b[2J")
    trace = SimpleNamespace(definitions=SimpleNamespace(recording=recording))
    comparison = SimpleNamespace(trace=trace, sides=(), findings=())
    _print_sides(cast(Any, comparison), stdout_console(stream), brief=True)
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().count(r"\x1b[2J") == 3


@pytest.mark.parametrize(
    ("recording", "line"),
    [
        (Recording(recorder="DFTracer", handles="inferred"), "DFTracer: handles are inferred from names of files"),
        (Recording(recorder="X", offsets=False), "X, not recorded: offsets"),
    ],
)
def test_what_a_recorder_does_not_tell_is_a_sentence_of_its_own(recording, line):
    stream = StringIO()
    print_recording(recording, stdout_console(stream))
    assert stream.getvalue().strip() == line
