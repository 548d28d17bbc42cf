"""The face of the package: the names it hands on, and that it costs nothing to import."""

import ast
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import iostrata
import pytest

CLASSES = {
    "ClusterError",
    "Comparison",
    "DamageReport",
    "Finding",
    "Flow",
    "HandleForest",
    "Layer",
    "LayerStatistics",
    "Loop",
    "Loops",
    "Period",
    "PeriodResult",
    "Phase",
    "Regime",
    "Samples",
    "StepSignal",
    "Trace",
}
ERRORS = {
    "IostrataError",
    "MissingLibraryError",
    "OutputError",
    "SelectionError",
    "TraceError",
    "UnsupportedTraceError",
}
FUNCTIONS = {
    "compare_layers",
    "detect_period",
    "detect_period_samples",
    "event_signal",
    "find_loops",
    "level_signal",
    "open_trace",
    "step_signal",
    "write_annotated",
    "write_collection",
    "write_ftio",
    "write_hdf5",
    "write_otf2",
    "write_parquet",
    "write_perfetto",
    "write_report",
}
NAMES = {"__version__"} | CLASSES | ERRORS | FUNCTIONS
ROOMS = (
    "analysis.findings",
    "analysis.fitting",
    "analysis.methods",
    "analysis.results",
    "analysis.spectral",
    "analysis.timefrequency",
    "layers.flow",
    "layers.selection",
    "live",
    "runs",
)
"""Namespaces of one subject, for what is not on the face."""

OPEN = {"detect_period": {"method", "fs"}}
"""Options that may go without their name, by the fixed interface."""


def test_the_public_names_are_these():
    assert set(iostrata.__all__) == NAMES
    assert dir(iostrata) == sorted(NAMES)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_public_name_is_there_and_documented(name):
    value = getattr(iostrata, name)
    assert value.__doc__
    assert getattr(iostrata, name) is value


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_gives_what_it_promises(room):
    module = importlib.import_module(f"iostrata.{room}")
    for name in module.__all__:
        assert getattr(module, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_options_have_their_names(name):
    for parameter in inspect.signature(getattr(iostrata, name)).parameters.values():
        if parameter.default is not parameter.empty and parameter.name not in OPEN.get(name, ()):
            assert parameter.kind is parameter.KEYWORD_ONLY, parameter


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'open_trance'"):
        _ = iostrata.open_trance


@pytest.mark.parametrize("name", ["iostrata", "iostrata.live", "iostrata.runs"])
def test_type_checkers_see_the_names_that_the_interpreter_gives(name):
    package = importlib.import_module(name)
    tree = ast.parse(Path(package.__file__).read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    homes = {
        alias.asname: f"{name}.{statement.module}"
        for statement in checked.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert sorted(homes) == package.__all__ == dir(package)
    for one in set(homes) - {"__version__"}:
        assert getattr(package, one).__module__ == homes[one]


def test_importing_the_package_imports_nothing_heavy():
    code = "import json, sys, iostrata; iostrata.TraceError; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(json.loads(done.stdout))
    assert not modules & {"numpy", "otf2", "_otf2", "numba", "rich", "click", "scipy", "h5py"}
