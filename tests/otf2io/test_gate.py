"""Which engine reads which archive."""

import dataclasses
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from iostrata import SelectionError
from iostrata.otf2io.archive import direct_obstacle, pick_engine
from iostrata.otf2io.files.anchor import COMPRESSION_ZLIB, SUBSTRATE_SION, Anchor, read_anchor


@pytest.fixture
def anchor(fixtures: Path) -> Anchor:
    return read_anchor(fixtures / "serial1")


def test_a_plain_archive_is_read_directly(anchor: Anchor) -> None:
    assert direct_obstacle(anchor) is None
    assert [pick_engine(engine, anchor) for engine in ("auto", "direct", "library")] == ["direct", "direct", "library"]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"compression": COMPRESSION_ZLIB}, "compressed"),
        ({"substrate": SUBSTRATE_SION}, "one file for each location"),
        ({"little_endian": False}, "big-endian"),
        ({"trace_format": 1}, "trace format 1"),
        ({"trace_format": 3}, "trace format 3"),
    ],
)
def test_other_archives_are_left_to_the_library(change: dict[str, Any], word: str, anchor: Anchor) -> None:
    other = dataclasses.replace(anchor, **change)
    assert pick_engine("auto", other) == pick_engine("library", other) == "library"
    with pytest.raises(SelectionError, match=word) as error:
        pick_engine("direct", other)
    assert "\n" not in str(error.value)


def test_without_a_compiler_the_library_reads(anchor: Anchor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    assert pick_engine("auto", anchor) == "library"
    with pytest.raises(SelectionError, match="numba is not installed"):
        pick_engine("direct", anchor)
