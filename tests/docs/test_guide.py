"""The user guide: built without a warning, and complete."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import iostrata
import pytest
from iostrata.cli.group import COMMANDS

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"


def test_every_command_and_public_function_is_in_the_guide():
    commands = (GUIDE / "commands.rst").read_text()
    for name in COMMANDS:
        assert f"\n{name}\n{'-' * len(name)}\n" in commands
    reference = (GUIDE / "python.rst").read_text()
    for name in iostrata.__all__:
        if name[0].islower():
            assert f"autofunction:: iostrata.{name}\n" in reference, name


def test_every_method_is_explained():
    from iostrata.analysis.registry import methods

    text = (GUIDE / "methods.rst").read_text()
    for name in methods():
        assert re.search(rf"^``{name}``\n-+$", text, re.MULTILINE), name


@pytest.mark.skipif(find_spec("sphinx") is None, reason="Sphinx is not installed")
def test_the_guide_is_built_without_a_warning(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    built = tmp_path / "built"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(tmp_path / "docs" / "guide"), str(built)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (built / "commands.html").read_text()
    assert "--traffic" in page
    for picture in re.findall(r'src="(_images/[^"]+)"', (built / "report.html").read_text()):
        assert (built / picture).stat().st_size > 10_000


def test_the_examples_are_what_the_commands_print():
    spec = spec_from_file_location("guide_examples", ROOT / "docs" / "examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    shown = (GUIDE / "commands.rst").read_text()
    for name, text in module.examples().items():
        assert (GUIDE / "examples" / f"{name}.txt").read_text(encoding="utf-8") == text, "run docs/examples.py"
        assert f"literalinclude:: examples/{name}.txt" in shown
