"""Extensions by entry points: found without an import, each broken one only warns, ours come first."""

import subprocess
import sys

import pytest
from iostrata.model.plugins import EntryPoint, Plugins, PluginWarning, instance_of

GROUP = "iostrata.tests"


def test_an_extension_is_imported_when_it_is_asked_for(install):
    install("works", [("answer", "works_answer:VALUES.real"), ("module", "works_answer")], works_answer="VALUES = 42\n")
    assert Plugins(GROUP, instance_of(int)).names == ("answer", "module")
    assert "works_answer" not in sys.modules
    assert Plugins(GROUP, instance_of(int)).find("answer") == 42
    assert "works_answer" in sys.modules
    assert Plugins(GROUP, instance_of(int)).find("another") is None


@pytest.mark.parametrize(
    ("value", "text", "reason"),
    [
        ("no_such_module_here", "", "ModuleNotFoundError: No module named 'no_such_module_here'"),
        ("broken_raises", "raise RuntimeError('two\\nlines')", "RuntimeError: two lines"),
        ("broken_raises:missing", "", "AttributeError: .* has no attribute 'missing'"),
        ("broken_raises:TEXT", "TEXT = 'x'", "TypeError: it is no int but str"),
        ("", "", "ValueError: Empty module name"),
    ],
)
def test_a_broken_one_warns_once_and_hides_nothing(install, recwarn, monkeypatch, value, text, reason):
    monkeypatch.setattr("iostrata.model.plugins._warned", set())
    monkeypatch.delitem(sys.modules, "broken_raises", raising=False)
    install("broken", [("a", value), ("z", "broken_sound:ONE")], broken_raises=text, broken_sound="ONE = 1")
    plugins = Plugins(GROUP, instance_of(int))
    with pytest.warns(
        PluginWarning, match=rf"^'a' \({value}\) of broken, group {GROUP}, is left out: {reason}; repair"
    ):
        assert plugins.all() == {"z": 1}
    assert plugins.all() == {"z": 1}
    assert plugins.find("a") is None
    assert [one for one in recwarn if issubclass(one.category, PluginWarning)] == []


def test_of_two_of_one_name_the_first_stays(install):
    install("second", [("same", "second_one:ONE"), ("other", "second_one:ONE")], second_one="ONE = 2")
    install("first", [("same", "first_one:ONE")], first_one="ONE = 1")
    with pytest.warns(PluginWarning, match=r"^'same' \(second_one:ONE\) of second, .*: first has one of this name"):
        assert Plugins(GROUP, instance_of(int)).all() == {"same": 1, "other": 2}


def test_ours_come_first(install):
    install("aaa", [("aaa", "no_matter")], group="iostrata.inputs")
    names = Plugins("iostrata.inputs", instance_of(object)).names
    assert names[0] == "darshan"
    assert names[-1] == "aaa"


def test_a_distribution_that_is_hidden_by_another_version_of_it_does_not_count(install):
    install("versions", [("new", "m")])
    folder = install("older", [])
    (folder / "older-1.0.dist-info").rename(folder / "Versions-0.9.dist-info")
    (folder / "Versions-0.9.dist-info" / "entry_points.txt").write_text(f"[{GROUP}]\nold = m\n")
    assert Plugins(GROUP, instance_of(int)).names == ("old",)


def test_files_that_are_no_entry_points_do_not_matter(install):
    folder = install("odd", [("good", "m")])
    (folder / "odd-1.0.dist-info" / "entry_points.txt").write_bytes(
        f"lost = m\n[{GROUP}\n# a = b\n; c = d\n\xff\nnothing\n[{GROUP}]\ngood = m\n".encode("latin-1")
    )
    (folder / "empty-1.0.dist-info").mkdir()
    (folder / "file.egg-info").write_text("Metadata-Version: 1.0\n")
    assert Plugins(GROUP, instance_of(int)).names == ("good",)


def test_help_imports_no_extension(install):
    folder = install("slow", [("slow", "slow_module")], group="iostrata.commands", slow_module="raise SystemExit(9)")
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "from iostrata.cli import main\n"
        "status = main(['--help'])\n"
        "sys.exit(status or 'slow_module' in sys.modules or 'importlib.metadata' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_advice_and_help_are_there_without_docstrings():
    script = (
        "from iostrata.analysis.findings.rule import rules\nfrom iostrata.cli.group import COMMANDS, iostrata\n"
        "print(rules.__doc__, all(one.advice for one in rules()), COMMANDS.find('info').help + iostrata.help)"
    )
    usual, stripped = (
        subprocess.run([sys.executable, *flags, "-c", script], capture_output=True, text=True, check=True).stdout
        for flags in ([], ["-OO"])
    )
    assert stripped.startswith("None True ")
    assert usual.partition(" True ")[2] == stripped.partition(" True ")[2] != ""


def test_what_an_extension_says_of_itself_is_read_without_an_import(tmp_path, monkeypatch):
    (tmp_path / "says_a_line.py").write_text('"""A first line.\n\nAnd more."""\n\nraise RuntimeError("imported")\n')
    (tmp_path / "says_nothing.py").write_text("VALUE = 1\n")
    (tmp_path / "spaces_only").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    said = {"says_a_line:VALUE": "A first line.", "says_a_line": "A first line.", "says_nothing": ""}
    for value, summary in {**said, "no_such_module_here": "", "spaces_only": "", "": ""}.items():
        assert EntryPoint(GROUP, "one", value, "distribution").summary == summary
