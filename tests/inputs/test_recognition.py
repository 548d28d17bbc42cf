"""Which recorder wrote a file is found by its content, whatever its name; others can add theirs."""

import gzip
import subprocess
import sys
import warnings
from dataclasses import fields
from pathlib import Path

import iostrata
import pytest
from iostrata.cli import main
from iostrata.inputs import recognition
from iostrata.inputs.inflating import first_text
from iostrata.inputs.parquet import PARQUET, parquet_parts
from iostrata.inputs.recognition import GROUP, Recorder, find_recorder, open_recorded, recorders
from iostrata.layers.selection.source import open_source
from iostrata.model.plugins import PluginWarning
from iostrata.model.recording import Recording

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


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


@pytest.mark.parametrize("fixture", ["traced_log", "small_dftracer", "small_tmio", "small_table"])
def test_nobody_else_takes_it_for_theirs(request, fixture):
    path = request.getfixturevalue(fixture)
    head = path.read_bytes()[: recognition.HEAD]
    assert [one.recognises(head, path) for one in recorders()].count(True) == 1


@pytest.mark.parametrize("recorder", recorders(), ids=lambda one: one.name)
def test_each_says_what_it_records_and_has_a_page(recorder):
    index = " ".join((GUIDE / "recorders" / "index.rst").read_text().split())
    page = GUIDE / recorder.page
    assert recorder.format
    assert recorder.description.endswith(".")
    assert f"- :doc:`{recorder.name} <{page.stem}>` ({recorder.format}): {recorder.description} " in index
    assert page.read_text().startswith(recorder.name)
    assert f" {page.stem} " in index.partition("toctree::")[2]
    assert set(recorder.never_recorded) <= {one.name for one in fields(Recording) if one.type is bool}


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


def test_a_damaged_compressed_file_is_called_so(tmp_path):
    packed = bytearray(gzip.compress(b'[\n{"id":1,"name":"read","cat":"POSIX","ph":"X"}\n' * 99))
    packed[12] ^= 0xFF
    path = tmp_path / "a.pfw.gz"
    path.write_bytes(packed)
    with pytest.raises(iostrata.TraceError, match="compressed in it is damaged"):
        iostrata.open_trace(path)


@pytest.mark.parametrize("sizes", [[10, 20], [2**16 - 1, 1, 1], [2**16, 2**16], [2**15] * 5, [2**20, 2**20]])
def test_of_a_compressed_file_about_as_much_is_looked_at_as_of_another(sizes):
    """Members are read until there are 64 KiB of text: what is packed well says no more than it must."""
    parts = [bytes([65 + place]) * size for place, size in enumerate(sizes)]
    text, whole = first_text(b"".join(map(gzip.compress, parts))), b"".join(parts)
    assert whole.startswith(text)
    assert len(text) == min(len(whole), 2**16)


def test_parts_of_a_table_may_have_any_digits_in_their_names(tmp_path):
    names = ["part-10.parquet", "part-2.parquet", "part-².parquet", "part-٣.parquet"]
    for name in names:
        (tmp_path / name).write_bytes(PARQUET)
    assert [one.name for one in parquet_parts(tmp_path)] == [names[1], names[3], names[0], names[2]]


def test_recorders_are_shown_the_first_65536_bytes_of_a_file(tmp_path):
    """However large it is, and no more, so that to ask all of them costs next to nothing."""
    seen = []
    known = (Recorder("Mine", lambda head, _path: seen.append(head), open_source),)
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.write(b"begin")
        file.truncate(1 << 30)
    assert find_recorder(path, known) is None
    assert [len(head) for head in seen] == [65536]
    assert seen[0].startswith(b"begin")


def test_an_archive_stays_one(fixtures):
    assert find_recorder(fixtures / "ckpt4" / "traces.otf2") is None
    assert open_source(fixtures / "ckpt4").definitions.recording.recorder == "OTF2"


ANOTHER = """
from dataclasses import replace
from iostrata.layers.selection.source import open_source as open_any

class Half:
    @staticmethod
    def recognises(head, _path):
        return True

class Another(Half):
    @staticmethod
    def recognises(head, _path):
        return head.startswith(b"MINE")

    @staticmethod
    def open_source(path):
        return replace(open_any(path.with_name("operations.txt")), path=path)
"""


def test_entry_points_add_recorders(small_table, install):
    install("another", [("mine", "another_one:Another")], GROUP, another_one=ANOTHER)
    path = small_table.with_name("other")
    path.write_bytes(b"MINE")
    assert iostrata.open_trace(path).layers["POSIX"].statistics("read").bytes == 7
    assert recorders()[-1].name == "mine"


def test_one_that_cannot_be_loaded_hides_nothing(small_table, install, capsys):
    path = small_table.with_name("other")
    path.write_bytes(b"MINE")
    entries = [("broken", "no_such_module_anywhere"), ("half", "another_two:Half"), ("mine", "another_two:Another")]
    install("another", entries, GROUP, another_two=ANOTHER)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["layers", str(path)]) == 0
        shown = capsys.readouterr()
        assert main(["layers", str(path)]) == 0
    assert "POSIX" in shown.out
    assert shown.err.splitlines() == [
        "iostrata: warning: 'broken' (no_such_module_anywhere) of another, group iostrata.inputs, is left out: "
        "ModuleNotFoundError: No module named 'no_such_module_anywhere'; repair or uninstall another",
        "iostrata: warning: 'half' (another_two:Half) of another, group iostrata.inputs, is left out: TypeError: it is "
        "neither a Recorder nor has it the functions recognises and open_source; repair or uninstall another",
    ]
    assert capsys.readouterr().err == ""


def test_one_that_fails_at_a_file_hides_nothing(small_table):
    def fails(_head, _path):
        raise RuntimeError("no")

    known = (Recorder("Mine", fails, open_source), *recorders())
    with pytest.warns(PluginWarning, match="'Mine' fails to recognise files: RuntimeError: no"):
        assert find_recorder(small_table, known).name == "Table"


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


def test_recorders_are_shown_the_first_64_kib(tmp_path):
    path, shown = tmp_path / "any", []
    path.write_bytes(bytes(65_537))
    known = Recorder("any", lambda head, _path: shown.append(head), lambda _path: None)
    assert find_recorder(path, [known]) is None
    assert [len(head) for head in shown] == [65_536]


@pytest.mark.parametrize(
    ("error", "words"), [(OSError(5, "it is broken", "a"), "it is broken"), (OSError("no number"), "no number")]
)
def test_what_cannot_be_read_says_why(error, words):
    def fail(_path):
        raise error

    with pytest.raises(iostrata.TraceError, match=f"cannot read a: {words}; check"):
        open_recorded("a", Recorder("any", lambda _head, _path: True, fail))
