"""Answers of `watch` as OpenMetrics text, read by the parser of Prometheus's own client."""

import json
import re
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from iostrata.export.openmetrics import CONTENT_TYPE, Exposition, published
from iostrata.live.answer import Alarm, Answer
from iostrata.live.following import Update
from iostrata.live.records.intake import Counts
from iostrata.model.errors import OutputError
from prometheus_client.openmetrics.parser import text_string_to_metric_families


def answer(time, moved=0, **other):
    known = {
        "layer": "POSIX", "direction": "write", "operations": 3, "phases": 2, "in_phase": False, "periodic": False,
        "period": None, "period_interval": None, "confidence": 0.0, "next_start": None, "probability": None,
        "regime_start": None, "reason": "",
    }  # fmt: skip
    return Answer(time=time, bytes=moved, **{**known, **other})


def update(*answers, last=False):
    return Update(max((one.time for one in answers), default=0.0), list(answers), Counts(), last)


def series(text):
    """Return the values by name and labels."""
    assert text.endswith("# EOF\n")
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_what_an_answer_says_is_there():
    exposition = Exposition()
    exposition.take(update(answer(10.0, 100)))
    periodic = {"periodic": True, "period": 5.0, "confidence": 0.9, "probability": 0.8, "next_start": (14.0, 16.0)}
    alarms = (Alarm("slow", 0.5, 0.3, "slow"),)
    exposition.take(update(answer(12.0, 700, in_phase=True, job="a", alarms=alarms, **periodic), answer(12.0, 300)))
    found = series(exposition.text)
    where = ("POSIX", "a", "write")
    assert found["iostrata_moved_bytes_total", *where] == 700
    assert found["iostrata_period_seconds", *where] == 5
    assert found["iostrata_period_confidence_ratio", *where] == 0.9
    assert found["iostrata_next_phase_seconds", "POSIX", "a", "earliest", "write"] == 2
    assert found["iostrata_next_phase_seconds", "POSIX", "a", "latest", "write"] == 4
    assert found["iostrata_next_phase_probability_ratio", *where] == 0.8
    assert found["iostrata_in_phase", *where] == 1
    alarm = {key[3]: value for key, value in found.items() if key[0] == "iostrata_alarm" and "a" in key}
    assert alarm == {"overdue": 0, "slipped": 0, "slow": 1}
    # The other job has no name; it moved 200 bytes in 2 s.
    assert found["iostrata_bandwidth_bytes_per_second", "POSIX", "write"] == 100
    assert ("iostrata_bandwidth_bytes_per_second", *where) not in found
    assert ("iostrata_period_seconds", "POSIX", "write") not in found


def test_names_of_any_characters_stay_labels():
    names = ['a"b', "a\\b", "a\nb", 'x"} 1\n# EOF\n', "\udcff\x1b[31m", "é"]
    exposition = Exposition()
    exposition.take(update(*(answer(1.0, 1, job=name, layer=name) for name in names)))
    found = [key for key in series(exposition.text) if key[0] == "iostrata_moved_bytes_total"]
    assert len(found) == len(names)
    assert all(name in {part for key in found for part in key} for name in names[:3])
    assert "\x1b" not in exposition.text


def test_series_of_a_job_end_when_its_input_does():
    exposition = Exposition()
    exposition.take(update(answer(1.0, 1, job="a"), answer(1.0, 1, job="b")))
    exposition.take(update(answer(1.0, 1, job="a"), answer(2.0, 1, job="b")))
    assert {key[2] for key in series(exposition.text) if key[0] == "iostrata_moved_bytes_total"} == {"b"}
    exposition.take(update(answer(3.0, 1, job="b"), last=True))
    assert series(exposition.text) == {}


@pytest.mark.parametrize(("silence", "shown"), [(3000.0, True), (3700.0, False)])
@pytest.mark.parametrize("period", [None, 100.0])
def test_series_end_when_nothing_has_moved_for_long(silence, shown, period):
    exposition = Exposition()
    exposition.take(update(answer(1.0, 1, job="a", period=period), answer(1.0, 1, job="a", layer="MPI-IO")))
    exposition.take(update(answer(silence, 1, job="a", period=period), answer(silence, 1, job="a", layer="MPI-IO")))
    assert bool(series(exposition.text)) == shown
    exposition.take(update(answer(silence + 1, 2, job="a", period=period)))
    assert series(exposition.text)


def test_a_long_period_is_waited_for():
    exposition = Exposition()
    exposition.take(update(answer(1.0, 1, period=2000.0)))
    exposition.take(update(answer(19000.0, 1, period=2000.0)))
    assert series(exposition.text)


def test_over_http_as_prometheus_asks():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    updates = published([update(answer(1.0, 1)), update(answer(2.0, 5))], str(port))
    next(updates)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
        assert reply.headers["Content-Type"] == CONTENT_TYPE
        assert series(reply.read().decode())["iostrata_moved_bytes_total", "POSIX", "write"] == 1
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/etc/passwd")
    with pytest.raises(OutputError, match=f"cannot listen at 127.0.0.1:{port}"):
        next(published([], str(port)))
    assert len(list(updates)) == 1
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics")


def test_in_a_file_that_is_whole_at_any_time(tmp_path):
    path = tmp_path / "job.prom"
    for moved in published([update(answer(1.0, 1)), update(answer(2.0, 2))], str(path)):
        assert series(path.read_text())["iostrata_moved_bytes_total", "POSIX", "write"] == moved.answers[0].bytes
    assert series(path.read_text()) == {}
    assert path.stat().st_mode & 0o777 == 0o644


def test_the_dashboard_shows_series_that_there_are():
    board = json.loads((Path(__file__).parents[2] / "docs" / "guide" / "examples" / "grafana.json").read_text())
    exposition = Exposition()
    told = {"periodic": True, "period": 5.0, "confidence": 0.9, "next_start": (14.0, 16.0)}
    for time in (1.0, 2.0):
        exposition.take(update(answer(time, 1, job="a", **told)))
    known = {key[0] for key in series(exposition.text)}
    shown = re.findall(r"iostrata_\w+", json.dumps([one["targets"] for one in board["panels"]]))
    assert len(board["panels"]) == len(shown)
    assert set(shown) <= known
