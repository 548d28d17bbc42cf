"""An archive of OTF2 is known by its first bytes, and then nobody else is asked."""

import shutil
from pathlib import Path

import pytest
from iostrata import TraceError
from iostrata.inputs import recognition
from iostrata.layers.selection.source import open_source


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
