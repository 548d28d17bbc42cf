"""An archive of OTF2 is known by its first bytes, and then nobody else is asked."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from iostrata import SelectionError, TraceError
from iostrata.inputs import recognition
from iostrata.inputs.source import RowSource
from iostrata.layers.selection.source import NoTimesError, open_source

TABLE = "layer,rank,mode,start,end,bytes\nPOSIX,0,write,0,1,100\n"


def test_no_other_recorder_is_asked_about_an_archive(
    fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("asked")

    folder = tmp_path / "archive"
    shutil.copytree(fixtures / "ncckpt4", folder)
    monkeypatch.setattr(recognition, "find_recorder", asked)
    assert open_source(folder / "traces.otf2").definitions.recording == open_source(folder).definitions.recording
    (folder / "traces.otf2").rename(folder / "traces.log")
    with pytest.raises(TraceError, match=r"does not end in \.otf2; rename it"):
        open_source(folder / "traces.log")
    (folder / "empty.otf2").touch()
    with pytest.raises(TraceError, match="is empty: the recording did not end properly"):
        open_source(folder / "empty.otf2")
    for name, content in (("other.log", b"12OTF3\0"), ("empty.log", b""), ("short.otf2", b"1")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(AssertionError, match="asked"):
            open_source(tmp_path / name)


def test_an_engine_is_for_archives_only(tmp_path: Path) -> None:
    path = tmp_path / "operations.csv"
    path.write_text(TABLE)
    assert open_source(path).definitions.recording.recorder == "Table"
    with pytest.raises(SelectionError, match="engine 'direct' is for OTF2, this is of Table"):
        open_source(path, engine="direct")


def test_of_a_folder_without_an_archive_the_first_16_files_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who gives the folder of many recordings is told so; a folder of a million other files is not read."""
    for number in range(40):
        (tmp_path / f"{number:02}.txt").write_text("a note\n")
    (tmp_path / "15.txt").write_text(TABLE)
    with pytest.raises(TraceError, match=r"give one of the recordings in it, such as 15\.txt \(Table\)"):
        open_source(tmp_path)
    (tmp_path / "15.txt").rename(tmp_path / "16.txt")
    (tmp_path / "15.txt").touch()
    looked_at, find = [], recognition.find_recorder
    monkeypatch.setattr(
        recognition, "find_recorder", lambda path, *known: looked_at.append(Path(path)) or find(path, *known)
    )
    with pytest.raises(TraceError, match="no anchor"):
        open_source(tmp_path)
    assert looked_at == [tmp_path, *(tmp_path / f"{number:02}.txt" for number in range(16))]


@pytest.mark.parametrize(("remedy", "advice"), [("", "record again"), ("turn tracing on", "turn tracing on")])
def test_who_has_counters_only_is_told_how_to_record_more(tmp_path: Path, remedy: str, advice: str) -> None:
    path = tmp_path / "operations.csv"
    path.write_text(TABLE)
    source = open_source(path)
    assert isinstance(source, RowSource)
    recording = replace(source.definitions.recording, counters=object(), remedy=remedy)
    known = replace(source, definitions=replace(source.definitions, recording=recording))
    text = f"{path}: Table recorded only counters, without times, which layers and info show; {advice}"
    assert str(NoTimesError(known)) == text
