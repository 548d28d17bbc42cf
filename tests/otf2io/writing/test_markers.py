"""Markers beside an archive's events, as the tool of OTF2 reads them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from iostrata.otf2io.archive import open_archive
from iostrata.otf2io.writing.markers import Marker, write_markers

pytestmark = pytest.mark.skipif(shutil.which("otf2-marker") is None, reason="otf2-marker is not installed")


@pytest.fixture
def archive(fixtures: Path, tmp_path: Path):
    return open_archive(shutil.copytree(fixtures / "serial1", tmp_path / "copy"))


def printed(archive) -> list[tuple[int, int]]:
    """Return start and duration of all markers that are in the archive."""
    command = ["otf2-marker", archive.anchor.path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [(int(start), int(length)) for start, length in re.findall(r"Time: (\d+), Duration (\d+)", text)]


def test_markers_are_cut_to_the_time_of_the_trace(archive) -> None:
    start, length = archive.definitions.clock.start, archive.definitions.clock.length
    spans = [(0, 5), (-7, 3), (length - 1, 100), (length + 9, 4), (10, 0), (3, length)]
    markers = [Marker("phase", *span, "text") for span in spans]
    assert write_markers(archive.anchor, "iostrata", markers, start, length) == len(spans)
    cut = [(0, 5), (0, 3), (length - 1, 1), (length, 0), (10, 0), (3, length - 3)]
    assert sorted(printed(archive)) == sorted((start + begin, lasts) for begin, lasts in cut)


def test_of_more_categories_than_a_byte_has_the_first_are_written(archive) -> None:
    clock = archive.definitions.clock
    markers = [Marker(f"category {number % 300}", number, 1, "text") for number in range(600)]
    assert write_markers(archive.anchor, "iostrata", markers, clock.start, clock.length) == 2 * 255
    assert len(printed(archive)) == 2 * 255
