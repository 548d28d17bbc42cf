"""Methods by name: what each declares, imported when asked for, and those of other packages."""

import subprocess
import sys
from pathlib import Path

import pytest
from iostrata import SelectionError, detect_period, step_signal
from iostrata.analysis.registry import DEFAULT_METHOD, PeriodMethod, methods, period_method
from iostrata.model.plugins import PluginWarning

CONSTANT = step_signal([0.0], [100.0], [1.0], window=(0.0, 100.0))
"""It has no outliers, so that no optional package is needed to say so."""


def test_every_method_is_there() -> None:
    assert {"auto", "ftio", "hybrid", DEFAULT_METHOD} <= set(methods())


@pytest.mark.parametrize("name", methods())
def test_a_method_says_what_it_does_and_cannot_do_and_what_its_options_are(name: str) -> None:
    method = period_method(name)
    assert method.name == name
    assert method.description.endswith(".")
    assert method.limits.endswith(".")
    assert list(method.defaults) == [option.name for option in method.options]
    for option in method.options:
        assert option.description.endswith("."), option.name
        assert option.values, option.name
        option.check(method.defaults[option.name])


@pytest.mark.parametrize("name", methods())
def test_a_result_bears_the_name_of_its_method(name: str) -> None:
    assert detect_period(CONSTANT, name).method == name


@pytest.mark.parametrize("name", ["nonsense", "", "FTIO", None, [], "../ftio"])
def test_an_unknown_method_is_refused_with_the_known_ones(name: object) -> None:
    with pytest.raises(SelectionError, match="ftio") as caught:
        period_method(name)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_methods_are_imported_when_asked_for() -> None:
    program = (
        "import sys, iostrata.analysis.detect as d, iostrata.analysis.registry as r; r.methods();"
        "heavy = {'scipy', 'numba', 'matplotlib', 'pandas', 'xarray', 'sklearn', 'iostrata.analysis.methods.ftio'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


PLUGIN = """
from iostrata.analysis.methods.auto import AutoMethod
from iostrata.analysis.registry import MethodOption, PeriodMethod

class Mine(AutoMethod):
    name = "mine"
    description = "As auto, for tests."
    options = (MethodOption("twice", "Whether to look twice.", "True or False", lambda value: value in (True, False)),)

    def detect(self, signal, fs="auto", *, twice=False):
        return super().detect(signal, fs)

class Mute(AutoMethod):
    name = "mute"
    description = ""
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with a method, and with one that does not say what it does."""
    entries = tmp_path / "my_methods-1.0.dist-info" / "entry_points.txt"
    entries.parent.mkdir()
    entries.write_text("[iostrata.methods]\nmine = my_methods:Mine\nmute = my_methods:Mute\n")
    (tmp_path / "my_methods.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed")
def test_methods_of_other_packages_are_as_ours() -> None:
    assert "mine" in methods()
    assert isinstance(period_method("mine"), PeriodMethod)
    assert detect_period(CONSTANT, "mine", twice=True).method == "mine"
    with pytest.raises(SelectionError, match="twice 3: give True or False"):
        detect_period(CONSTANT, "mine", twice=3)
    with pytest.raises(SelectionError, match="method 'mine' has no option 'false_alarm_rate': it has twice"):
        detect_period(CONSTANT, "mine", false_alarm_rate=0.01)


@pytest.mark.usefixtures("installed")
def test_a_method_without_a_description_is_left_out() -> None:
    with pytest.warns(PluginWarning, match="mute.*no description"), pytest.raises(SelectionError, match="mute"):
        period_method("mute")
