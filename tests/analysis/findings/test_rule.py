"""What each finding must declare, and findings that other packages add."""

import ast
import inspect
import json
import runpy
import sys
import tomllib
from pathlib import Path

import iostrata
import pyarrow.parquet as pq
import pytest
from iostrata.analysis.findings import Rule, find, rules
from iostrata.analysis.findings.find import applicable
from iostrata.cli.run import run
from iostrata.export.report.panels.limits import Limits
from iostrata.model.plugins import PluginWarning
from iostrata.model.recording import Recording

ROOT = Path(__file__).parents[3]
GUIDE = runpy.run_path(str(ROOT / "docs" / "guide" / "findings.py"))
TEXTS = {
    "longest",
    "comes",
    "of",
    "by",
    "last",
    "busiest",
    "upper",
    "lower",
    "direction",
    "nodes",
    "recorded_lower_layers",
    "node_local",
    "storage_targets",
}
"""Evidence that is no number."""


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_a_finding_says_what_it_is_and_gives_a_reason_for_each_threshold(rule):
    assert isinstance(rule, Rule)
    for text in (GUIDE["what"](rule), *(rule.notes[name] for name in GUIDE["NOTES"])):
        assert len(text) > 10
        assert text.endswith(".")
    documented = GUIDE["thresholds"](rule)
    assert documented.keys() == rule.thresholds.keys()
    for name, (unit, reason) in documented.items():
        assert unit in GUIDE["UNITS"], f"{rule.id}: unit of {name}"
        assert len(reason) > 10, f"{rule.id}: reason of {name}"
    # No advice is cut on a page.
    assert len(rule.advice) <= Limits().characters
    known = {one.id for one in rules()}
    assert {*rule.explained_by, *rule.follows} <= known
    assert bool(rule.reason_missing(Recording())) == rule.counters_only


@pytest.mark.parametrize("module", sorted({rule.look.__module__ for rule in rules()}))
def test_every_number_in_the_evidence_has_a_unit(module):
    here = [rule for rule in rules() if rule.look.__module__ == module]
    keys = set()
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(node, ast.Call) and "match" in (
            getattr(node.func, "attr", ""),
            getattr(node.func, "id", "").lower(),
        ):
            keys |= {key.value for key in node.args[2].keys if key is not None}
    assert keys
    assert not {key for key in keys - TEXTS if not any(rule.unit(key) for rule in here)}


def test_each_finding_is_an_entry_point_of_its_name_in_order():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = list(project["entry-points"]["iostrata.findings"])
    assert names == sorted(names)
    assert [rule.id for rule in rules()] == names


def test_what_a_recorder_does_not_know_is_a_reason():
    recording = Recording(recorder="Other", ranks=False)
    ids = {rule.id: rule for rule in rules()}
    assert ids["serial-io"].reason_missing(recording).startswith("Other does not ")
    assert not ids["small-requests"].reason_missing(recording)
    missing = {"stragglers", "imbalance", "serial-io", "slow-ranks", "funnelled-collective", "waiting-ranks"}
    assert not missing & {rule.id for rule in applicable(recording)}
    assert applicable(Recording(rows="intervals")) == ()
    inferred = {"compression", "hidden-traffic", "missing-lower-layer", "layer-overhead"}
    inferred |= {rule.id for rule in rules() if rule.counters_only}
    assert {*ids} - {rule.id for rule in applicable(Recording(handles="inferred"))} == inferred


PLUGIN = '''
"""A finding of another package."""

from iostrata.analysis.findings import Match, finding


@finding(units={"handles_used": "count"}, by_time=True)
def many_writes(evidence, *, operations=50):
    """Many writes.

    Notes
    -----
    :What helps: Write less,
        or more at once.
    """
    for layer in evidence.cells.layers:
        writes = evidence.cells.of(layer, "write")
        if evidence.cells.operations(writes) >= operations:
            yield Match(layer, f"{layer} writes a lot", {"direction": "write", "handles_used": 3}, cells=writes)


@finding(may_be_meant=True)
def failing(evidence):
    """Fails."""
    raise KeyError("no such column")
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a package with entry points for findings."""

    def install(**entries):
        folder = tmp_path / "site"
        metadata = folder / "other-1.0.dist-info"
        metadata.mkdir(parents=True)
        (folder / "other_findings.py").write_text(PLUGIN)
        listed = "".join(f"{name.replace('_', '-')} = {value}\n" for name, value in entries.items())
        (metadata / "entry_points.txt").write_text(f"[iostrata.findings]\n{listed}")
        monkeypatch.syspath_prepend(folder)

    yield install
    sys.modules.pop("other_findings", None)


def test_a_finding_of_another_package_is_in_all_views(installed, fixtures, tmp_path, capfd):
    installed(many_writes="other_findings:many_writes")
    trace = str(fixtures / "ckpt4_romio")
    assert run(["compare", trace, "--json"]) == 0
    found = [one for one in json.loads(capfd.readouterr().out)["findings"] if one["id"] == "many-writes"]
    assert {one["layer"] for one in found} >= {"MPI-IO", "POSIX"}
    assert found[0]["advice"] == "Write less, or more at once."
    assert (found[0]["evidence"]["handles_used"], found[0]["evidence"]["rank_count"]) == (3, 4)
    assert run(["compare", trace]) == 0
    assert "POSIX writes a lot" in capfd.readouterr().out
    page = tmp_path / "page.html"
    assert run(["report", trace, "-o", str(page)]) == 0
    assert "MPI-IO writes a lot" in page.read_text()
    assert '"handles_used":"count"' in page.read_text().replace(" ", "")
    assert run(["collect", trace, "-o", str(tmp_path / "runs"), "--workers", "1"]) == 0
    collected = pq.read_table(tmp_path / "runs" / "finding.parquet").to_pylist()
    assert "many-writes" in {row["id"] for row in collected}
    capfd.readouterr()
    assert run(["diff", str(fixtures / "ckpt4"), trace, "--json"]) == 0
    changes = json.loads(capfd.readouterr().out)["changes"]
    assert ("finding:many-writes", "POSIX") in {(one["id"], one["layer"]) for one in changes}


def test_a_finding_that_cannot_be_used_only_warns(installed, fixtures):
    installed(**{name: f"other_findings:{name}" for name in ("many_writes", "broken", "failing")})
    trace = iostrata.open_trace(fixtures / "ckpt4")
    with pytest.warns(PluginWarning) as warned:
        found = find(trace)
    texts = [str(one.message) for one in warned]
    assert any(text.startswith("'broken' (other_findings:broken) of other") for text in texts)
    assert "finding failing is left out: KeyError: 'no such column'" in texts
    assert "many-writes" in {one.id for one in found}
    assert "waiting-ranks" in {one.id for one in found}
