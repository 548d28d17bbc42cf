"""Timelines, packets and markers of recordings in whole, as stored."""

import json

import pytest
from iostrata import open_trace, write_otf2, write_perfetto

RECORDINGS = ("ckpt4", "mixed4", "ncckpt4", "threads2", "small_files2")


def by_kind(events):
    found = {}
    for event in events:
        found.setdefault(f"{event.get('ph')} {event.get('cat', '')}", []).append(event)
    return found


@pytest.mark.parametrize("name", RECORDINGS)
@pytest.mark.parametrize("most", [100_000, 100])
def test_timelines_are_those_stored(held, fixtures, tmp_path, name, most):
    trace = open_trace(fixtures / name)
    written = write_perfetto(trace, tmp_path / "a.perfetto.json", most_slices=most)
    document = json.loads((tmp_path / "a.perfetto.json").read_text())
    about = {key: value for key, value in document["otherData"].items() if "version" not in key}
    # The path of the trace is in the file, which is as long as it.
    counts = {key: getattr(written, key) for key in ("layers", "operations", "slices", "gap_s")}
    held(f"{name}_{most}", {"about": about, "events": by_kind(document["traceEvents"]), "written": counts})


@pytest.mark.parametrize("name", ["mixed4", "ncckpt4"])
def test_archives_read_back_are_those_stored(held, fixtures, tmp_path, name):
    write_otf2(open_trace(fixtures / name), tmp_path / "made.otf2")
    found = open_trace(tmp_path / "made.otf2")
    held(f"archive_{name}", [{one.name: one.statistics("total") for one in found.layers.values()}, found.operations])
