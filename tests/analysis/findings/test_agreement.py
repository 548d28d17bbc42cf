"""What an expert said of recordings of benchmarks, from their own numbers, against what is found in them."""

import runpy
import tomllib
from pathlib import Path

import pytest
from iostrata import open_trace
from iostrata.analysis.findings import find

ROOT = Path(__file__).resolve().parents[3]
COMPARE = runpy.run_path(str(ROOT / "benchmarks" / "findings" / "agreement.py"))
READINGS = tomllib.loads((ROOT / "benchmarks" / "findings" / "readings.toml").read_text())


@pytest.mark.recordings
@pytest.mark.filterwarnings("ignore:.* Enter and Leave claim to be:iostrata.model.plugins.PluginWarning")
def test_the_first_findings_are_those_of_an_expert(recordings):
    found = {name: find(open_trace(recordings / "benchmarks" / name)) for name in READINGS}
    assert len(found) == 23
    differing = {name: COMPARE["disagreements"](found[name], reading) for name, reading in READINGS.items()}
    assert sum(not wrong for wrong in differing.values()) >= 20, differing
    # What a benchmark's own numbers do not show, such as who comes late, is all that differs.
    assert all(COMPARE["unseen"](found[name], READINGS[name]) for name, wrong in differing.items() if wrong), differing
    every = [one for findings in found.values() for one in findings]
    warnings = [one for one in every if one.severity != "info"]
    assert warnings
    for one in warnings:
        assert one.cost_s is not None, one
        assert one.cost_share >= 0.001, one
    # Of the measurement system itself nothing is told.
    assert not [one for one in every if any(name.startswith(("/proc", "/sys", "/usr")) for name in one.files)]
    assert not [one for one in every if one.id == "stray-files"]
    # Beside what it follows from, waiting is no warning of its own.
    (waiting,) = (one for one in found["ior_mpiio_coll8"] if one.id == "waiting-ranks" and "reads" in one.text)
    assert waiting.severity == "info"
