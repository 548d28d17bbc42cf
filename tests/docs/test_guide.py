"""The user guide: built without a warning, and complete."""

import re
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import iostrata
import pytest
from iostrata.cli.group import COMMANDS
from iostrata.model.metrics import metrics_of

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"


def test_every_command_and_public_function_is_in_the_guide():
    commands = (GUIDE / "commands.rst").read_text()
    for name in COMMANDS.names:
        assert f"\n{name}\n{'-' * len(name)}\n" in commands
    reference = (GUIDE / "python.rst").read_text()
    for name in set(iostrata.__all__) - {"__version__"}:
        assert re.search(
            rf"^\.\. auto(function|class|exception):: iostrata\.{name}(\(\))?$", reference, re.MULTILINE
        ), name
    for path in re.findall(r":: (iostrata\.[\w.]+)", reference):
        room = path.removeprefix("iostrata.").split(".")[:-1]
        assert not room or path.split(".")[-1] in import_module(f"iostrata.{'.'.join(room)}").__all__, path


def test_the_words_of_the_tables_are_explained():
    glossary = (GUIDE / "glossary.rst").read_text()
    for word in (
        "own",
        "inherited",
        "set aside",
        "recurrence",
        "abstraction error",
        "periodicity score",
        "R_IO",
        "B_IO",
    ):
        assert f"\n   {word}\n      " in glossary, word


def test_the_columns_of_layers_are_explained_as_they_are_declared():
    assert ".. include:: generated/metrics.rst" in (GUIDE / "glossary.rst").read_text()
    written = (GUIDE / "generated" / "metrics.rst").read_text() if (GUIDE / "generated").is_dir() else None
    for one in metrics_of(iostrata.LayerStatistics):
        assert one.sentence.endswith(".")
        assert written is None or f"   {one.title}\n      (``{one.key}``" in written


def test_every_word_of_the_tables_is_explained_somewhere():
    module = loaded(GUIDE / "terms.py")
    entries = module.entries()
    assert len(entries) > 80
    assert [word for word, _, place in entries if not place] == []
    assert (GUIDE / "terms.rst").read_text(encoding="utf-8") == module.page(), "run docs/guide/terms.py"


def test_every_method_is_explained():
    from iostrata.analysis.registry import methods

    text = (GUIDE / "methods.rst").read_text()
    for name in methods():
        section = rf"^``{name}``\n-+\n\n\.\. include:: generated/method-{name}\.txt\n\n\S"
        assert re.search(section, text, re.MULTILINE), name


def loaded(path):
    """Return a script of the guide as a module."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_on_findings_is_what_their_functions_say():
    script = loaded(GUIDE / "findings.py")
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "run docs/guide/findings.py"


@pytest.mark.skipif(find_spec("sphinx") is None, reason="Sphinx is not installed")
def test_the_guide_is_built_without_a_warning_and_loads_nothing_from_the_net(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    built = tmp_path / "built"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(tmp_path / "docs" / "guide"), str(built)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for page in built.glob("*.html"):
        loaded = re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*", page.read_text())
        assert not loaded, page
    page = (built / "commands.html").read_text()
    assert "--traffic" in page
    for picture in re.findall(r'src="(_images/[^"]+)"', (built / "report.html").read_text()):
        assert (built / picture).stat().st_size > 10_000


def test_the_examples_are_what_the_commands_print():
    module = loaded(GUIDE / "examples" / "write.py")
    shown = "".join(page.read_text() for page in GUIDE.glob("*.rst"))
    for name, text in module.examples().items():
        assert (GUIDE / "examples" / f"{name}.txt").read_text(encoding="utf-8") == text, "run examples/write.py"
        assert f"literalinclude:: examples/{name}.txt" in shown


def test_the_pages_at_the_root_name_what_is_there():
    floors = "model|otf2io|signals|layers|analysis|export|cli|tests|docs|benchmarks|fixtures"
    for page in ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"):
        text = (ROOT / page).read_text()
        named = re.findall(rf"`((?:{floors})/[\w./]*)`", text) + re.findall(r"\]\(([\w./]+)(?:#[\w-]*)?\)", text)
        assert named
        for path in named:
            assert (ROOT / path).exists(), f"{page}: {path}"
