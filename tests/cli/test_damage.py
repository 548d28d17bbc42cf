"""A damaged trace is read as far as it goes: exit code 0, and a warning on stderr that counts what is lost."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from iostrata.model.errors import TraceError
from iostrata.model.recording import OTF2
from iostrata.model.stream.damage import DamageReport, LocationDamage
from iostrata.model.stream.keeping import kept_of, kept_text


@pytest.fixture
def truncated(copy_of):
    """Return a copy of a trace of which one event file ends early."""
    folder = copy_of("ckpt4_linktime")
    events = folder / "traces" / "2.evt"
    content = events.read_bytes()
    events.write_bytes(content[: len(content) // 2])
    return folder


@pytest.mark.parametrize("command", ["layers", "handles", "periods"])
def test_the_document_reports_the_loss(run, truncated, command):
    done = run(command, truncated, "--json")
    assert done.returncode == 0
    damage = json.loads(done.stdout)["damage"]
    assert damage["damaged"] is True
    (location,) = damage["locations"]
    assert location["location"] == 2
    assert location["reason"]
    assert 0 < location["events_read"] < location["events_expected"]
    lost = damage["events_expected"] - damage["events_read"]
    assert lost == location["events_expected"] - location["events_read"]
    assert done.stderr.startswith("iostrata: warning: 1 damaged location: ")
    assert f"{lost:,} of {damage['events_expected']:,} events lost" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["layers", "handles", "periods"])
def test_the_view_reports_the_loss(run, truncated, command):
    done = run(command, truncated)
    assert done.returncode == 0
    assert done.stderr.startswith("iostrata: warning: 1 damaged location: ")
    summary = done.stderr.removeprefix("iostrata: warning: ").split(" (location")[0]
    assert summary not in done.stdout  # a terminal shows both
    assert done.stdout.count("Damaged location 2: ") == done.stdout.lower().count("damaged location") == 1


def test_a_damaged_side_of_a_comparison_is_told_before_what_differs(run, truncated, fixtures):
    done = run("diff", truncated, fixtures / "ckpt4_linktime")
    assert done.returncode == 0
    lost = json.loads(run("layers", truncated, "--json").stdout)["damage"]
    assert done.stderr == (
        f"iostrata: warning: {truncated / 'traces.otf2'} is damaged, "
        f"{lost['events_expected'] - lost['events_read']:,} events lost; the results cover what could be read\n"
    )


def test_a_corruption_of_the_measurement_itself(document, run, fixtures):
    damage = document("layers", fixtures / "broken_race_corruption")["damage"]
    assert damage["damaged"] is True
    assert damage["events_read"] < damage["events_expected"]
    assert "damaged location" in run("layers", fixtures / "broken_race_corruption").stderr


def test_nothing_but_files_set_aside_is_worth_a_warning(run, fixtures):
    done = run("layers", fixtures / "ckpt4", "--files", "/", "--window", "1:6", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["layers"] == []
    assert f"all {found['set_aside']['operations']:,} operations" in done.stderr
    assert done.stderr.startswith("iostrata: warning: nothing to show: ")


def test_a_new_archive_of_a_trace_whose_events_are_all_ignored(made, document, tmp_path):
    """It holds no event, for all are far outside of the trace, and tells what its source tells."""
    base = made.base()
    clock = [
        replace(one, values=(10**9, 2**63, 2 * 10**10, 0)) if one.kind == made.records.CLOCK else one
        for one in base.definitions
    ]
    made.records.write(replace(base, definitions=clock), tmp_path / "source")
    document("convert", tmp_path / "source", tmp_path / "anew.otf2", "--rewrite")
    first, again = (
        document("layers", path, "--files", "all") for path in (tmp_path / "source", tmp_path / "anew.otf2")
    )
    assert first["damage"]["locations"]
    assert again["layers"] == first["layers"]
    assert [one["reason"] for one in again["damage"]["locations"]] == [
        one["reason"] for one in first["damage"]["locations"]
    ]


def test_operations_of_no_process_are_told_all_the_same(made, document, fixtures, tmp_path):
    """As all are where the processes have other ids than those that the threads name."""
    recorded = made.records.decode(fixtures / "ckpt4_linktime")
    definitions = [
        one.with_value(0, 1002) if one.kind == 13 else one  # a group of locations
        for one in recorded.definitions
    ]
    made.records.write(replace(recorded, definitions=definitions), tmp_path / "source")
    document("report", tmp_path / "source", "-o", tmp_path / "x.html", "--files", "all")
    layers, findings = (
        [document(command, path, "--files", "all")[key] for path in (tmp_path / "source", fixtures / "ckpt4_linktime")]
        for command, key in (("layers", "layers"), ("compare", "findings"))
    )
    assert [(one["layer"], one["operations"], one["bytes"]) for one in layers[0]] == [
        (one["layer"], one["operations"], one["bytes"]) for one in layers[1]
    ]
    # What calls cost the run is what they cost the rank that spends most in them, and nobody knows of ranks.
    of_ranks = {"metadata-time"}
    assert [one["id"] for one in findings[0]] == [one["id"] for one in findings[1] if one["id"] not in of_ranks]


@pytest.mark.parametrize("name", ["ckpt4_linktime", "late4"])
def test_without_any_process_nobody_is_the_last_rank(made, document, fixtures, tmp_path, name):
    recorded = made.records.decode(fixtures / name)
    text = next(one for one in recorded.definitions if one.kind == 10)
    # As many definitions as the anchor promises.
    definitions = [
        text.with_value(0, 900_000 + row) if one.kind == 13 else one for row, one in enumerate(recorded.definitions)
    ]
    made.records.write(replace(recorded, definitions=definitions), tmp_path / "source")
    told = document("periods", tmp_path / "source", "--phases", "--files", "all")["layers"]
    assert any(entry["phases"] for entry in told)
    assert {one for entry in told for one in entry.get("last_ranks") or ()} <= {None}
    for command in ("compare", "overview", "layers", "handles"):
        document(command, tmp_path / "source", "--files", "all")
    document("report", tmp_path / "source", "-o", tmp_path / "x.html", "--files", "all")


def test_only_losses_of_the_trace_itself_make_it_unreadable():
    own = LocationDamage(0, 0, 9, 0, "garbage")
    (again,) = kept_of(kept_text(OTF2, DamageReport(9, 0, (own,))), np.zeros(1, np.uint64), 0, 0).losses
    assert again == replace(own, inherited=True)
    DamageReport(9, 0, (again,)).check_something_read(Path("x"))
    DamageReport(9, 1, (own,)).check_something_read(Path("x"))
    with pytest.raises(TraceError, match=r"none of the 9 events .*location 0: garbage"):
        DamageReport(9, 0, (again, own)).check_something_read(Path("x"))
