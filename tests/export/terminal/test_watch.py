"""The live view, of answers whose rows can be written by hand."""

from io import StringIO

import pytest
from iostrata.export.terminal.console import stdout_console
from iostrata.export.terminal.watch import show_updates, watch_view
from iostrata.live.answer import Alarm, Answer
from iostrata.live.following import Update
from iostrata.live.records.intake import Counts
from rich.console import Console

NOTHING = {"period": None, "period_interval": None, "next_start": None, "probability": None, "regime_start": None}
IDLE = {"time": 100.0, "layer": "POSIX", "direction": "write", "operations": 3, "bytes": 0, "phases": 1}
IDLE |= {"in_phase": False, "periodic": False, "confidence": 0.0, "reason": "too few", **NOTHING}
PERIODIC = {**IDLE, "bytes": 2_000_000, "phases": 1234, "in_phase": True, "periodic": True, "period": 10.0}
PERIODIC |= {"confidence": 0.9, "regime_start": 20.0, "next_start": (104.0, 106.0), "probability": 0.75}


def lines(*answers, last=False, counts=None):
    out = StringIO()
    console = stdout_console(out, 200)
    console.print(watch_view(Update(100.0, list(answers), counts or Counts(), last), "t" * 61))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_row_says_what_is_now_and_what_comes_next():
    heading, _, titles, idle, periodic, _, *reasons = lines(Answer(**IDLE), Answer(**PERIODIC))
    name, _, time = heading.partition("  at ")
    assert (len(name), time) == (60, "100 s")
    assert titles.split("  ")[0] == "layer"
    assert idle.split() == ["POSIX", "write", "idle", "0", "B", "1", "none"]
    assert " ".join(periodic.split()) == "POSIX write in a phase 2 MB 1,234 10 s 90 % 20 s in 4 s to 6 s (75 %)"
    assert reasons == ["POSIX write: too few"] * 2


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({"next_start": (99.0, 104.0)}, "in 0 s to 4 s (75 %)"),
        ({"next_start": (104.0, 104.0)}, "in 4 s (75 %)"),
        ({"next_bytes": 5_000_000}, "in 4 s to 6 s (75 %), 5 MB"),
        ({"next_bytes": 5_000_000, "next_bytes_range": (4_000_000, 6_000_000)}, "(75 %), 4 MB to 6 MB"),
        ({"next_bytes": 5_000_000, "next_bytes_range": (5_000_000, 5_000_000)}, "(75 %), 5 MB"),
        ({"next_start": None}, "20 s"),
        ({"probability": None}, "20 s"),
    ],
)
def test_the_next_phase_is_told_from_now_on(more, end):
    assert lines(Answer(**PERIODIC | more))[3].endswith(end)


def test_of_several_jobs_each_has_its_name_and_priority_and_alarms_stand_first():
    late = Alarm("overdue", 9.0, 3.0, "it is 9 s late")
    answers = [
        Answer(**IDLE, job="j" * 21, priority=0.01),
        Answer(**PERIODIC | {"layer": "l" * 21}, alarms=(late,)),
    ]
    _, _, titles, first, second, _, alarm, *reasons = lines(*answers)
    assert titles.split()[:3] == ["job", "priority", "layer"]
    job, priority, layer, *_ = first.split()
    assert (len(job), priority, layer) == (20, "0.01", "POSIX")
    assert len(second.split()[0]) == 20
    assert alarm == f"{'l' * 21} write: it is 9 s late"
    assert reasons == [f"{job} POSIX write: too few", f"{'l' * 21} write: too few"]


def test_the_end_and_what_was_wrong_are_told():
    heading, nothing, wrong = lines(last=True, counts=Counts(malformed=2))
    assert heading.endswith(", ended")
    assert nothing == "No I/O so far."
    assert "2" in wrong


def test_the_last_update_stays():
    out = StringIO()
    updates = [Update(float(at), [Answer(**IDLE)], Counts(), False) for at in (1, 2)]
    show_updates(updates, stdout_console(out, 100), "run")
    assert "run  at 2 s" in out.getvalue()
    assert "at 1 s" not in out.getvalue()


def test_before_the_first_update_it_says_that_it_waits():
    def updates():
        before.append(out.getvalue())
        yield Update(1.0, [Answer(**IDLE)], Counts(), False)

    out, before = StringIO(), []
    show_updates(updates(), Console(file=out, force_terminal=True, width=80), "run")
    assert "waiting for it" in before[0]
