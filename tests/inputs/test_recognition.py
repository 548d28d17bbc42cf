"""Which recorder wrote a file is found by its content, whatever its name; others can add theirs."""

import subprocess
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint

import iostrata
import pytest
from iostrata.inputs import recognition
from iostrata.inputs.recognition import find_recorder
from iostrata.layers.selection.source import open_source


@pytest.mark.parametrize(
    ("fixture", "name"),
    [("traced_log", "Darshan"), ("small_dftracer", "DFTracer"), ("small_tmio", "TMIO"), ("small_table", "Table")],
)
@pytest.mark.parametrize("suffix", ["", ".otf2", ".csv", ".darshan", ".pfw.gz", ".msgpack"])
def test_content_tells_not_the_name(request, fixture, name, suffix):
    path = request.getfixturevalue(fixture)
    renamed = path.with_name("x" + suffix)
    path.rename(renamed)
    assert find_recorder(renamed).name == name
    assert open_source(renamed).definitions.recording.recorder == name


@pytest.mark.parametrize(
    "text", ["", "some text that is no trace\n", "{}", '{"a": 1}\n', "[1, 2]", "\x00" * 100, "\x1f\x8b"]
)
@pytest.mark.parametrize("suffix", [".darshan", ".pfw.gz", ".csv", ".otf2"])
def test_what_nobody_wrote_is_refused_in_a_line(tmp_path, text, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_text(text)
    with pytest.raises(iostrata.TraceError) as refused:
        iostrata.open_trace(path)
    assert "\n" not in str(refused.value)


def test_an_archive_stays_one(fixtures):
    assert find_recorder(fixtures / "ckpt4" / "traces.otf2") is None
    assert open_source(fixtures / "ckpt4").definitions.recording.recorder == "OTF2"


def test_engines_are_of_otf2(small_table):
    with pytest.raises(iostrata.SelectionError, match="engine 'direct' is for OTF2"):
        iostrata.open_trace(small_table, engine="direct")


class Another:
    """A recorder of another package."""

    @staticmethod
    def recognises(head, _path):
        return head.startswith(b"MINE")

    @staticmethod
    def open_source(path):
        return replace(open_source(path.with_name("operations.txt")), path=path)


def test_entry_points_add_recorders(small_table, monkeypatch):
    entry = EntryPoint("mine", f"{__name__}:Another", recognition.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _self: Another)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] if group == recognition.GROUP else [])
    path = small_table.with_name("other")
    path.write_bytes(b"MINE")
    assert iostrata.open_trace(path).layers["POSIX"].statistics("read").bytes == 7


def test_an_entry_point_that_cannot_be_loaded(tmp_path, monkeypatch):
    entry = EntryPoint("broken", "no_such_module_anywhere", recognition.GROUP)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_group: [entry])
    path = tmp_path / "other"
    path.write_bytes(b"MINE")
    with pytest.raises(iostrata.TraceError, match="'broken'"):
        iostrata.open_trace(path)


def test_an_archive_is_opened_without_a_look_at_other_recorders(fixtures):
    code = (
        "import sys, iostrata\n"
        f"iostrata.open_trace({str(fixtures / 'ckpt4_linktime')!r})\n"
        "others = ('iostrata.inputs', 'pyarrow', 'msgpack', 'darshan')\n"
        "loaded = [name for name in sys.modules if name.startswith(others)]\n"
        "sys.exit(', '.join(loaded) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
