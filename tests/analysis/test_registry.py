"""Methods by name, imported when asked for."""

import subprocess
import sys
from importlib import import_module

import pytest
from iostrata import SelectionError, step_signal
from iostrata.analysis import registry


def test_every_method_is_there() -> None:
    assert "ftio" in registry.methods()
    assert registry.DEFAULT_METHOD in registry.methods()
    for name in registry.methods():
        module, attribute = registry.METHODS[name].split(":")
        assert registry.detector(name) is getattr(import_module(module, registry.__package__), attribute)


@pytest.mark.parametrize("name", registry.methods())
def test_a_result_bears_the_name_of_its_method(name: str) -> None:
    # A constant has no outliers, so that no optional package is needed to say so.
    constant = step_signal([0.0], [100.0], [1.0], window=(0.0, 100.0))
    assert registry.detector(name)(constant).method == name


@pytest.mark.parametrize("name", ["nonsense", "", "FTIO", None, [], "../ftio"])
def test_an_unknown_method_is_refused_with_the_known_ones(name: object) -> None:
    with pytest.raises(SelectionError, match="ftio") as caught:
        registry.detector(name)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_methods_are_imported_when_asked_for() -> None:
    program = (
        "import sys, iostrata.analysis.detect as d, iostrata.analysis.registry as r; r.methods();"
        "heavy = {'scipy', 'numba', 'matplotlib', 'pandas', 'xarray', 'sklearn', 'iostrata.analysis.methods.ftio'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
