"""The group ``story`` of an HDF5 file: what the I/O was, a row a stretch of the run."""

from collections.abc import Sequence
from typing import Final

from ...analysis.comparison.story import Segment
from .variables import GroupWriter

_ROW: Final = ("segment",)
_NUMBERS: Final = (
    ("start", "s", "begin of the first burst"),
    ("end", "s", "end of the last burst"),
    ("period", "s", "time between bursts; missing without a period"),
    ("confidence", "1", "that the period lies within 10 % of the truth, 0 to 1"),
    ("bytes", "byte", "bytes moved through the first of the layers"),
    ("bytes_per_phase", "byte", "median over the bursts"),
    ("ranks", "1", "processes that used handles of the first layer at that time"),
)


def write_story(writer: GroupWriter, story: Sequence[Segment]) -> None:
    """Write the segments in their order."""
    writer.dimension("segment", len(story))
    writer.text("kind", _ROW, [one.kind for one in story], long_name="kind of I/O, or of none")
    writer.text(
        "segment_direction", _ROW, [one.direction or "" for one in story], long_name="direction of the transfers"
    )
    layers = [" ".join(one.layers) for one in story]
    writer.text("layers", _ROW, layers, long_name="layer that the program called and those below, the highest first")
    writer.text("text", _ROW, [one.text for one in story], long_name="the segment in words")
    for name, units, long_name in _NUMBERS:
        values = [getattr(one, name) for one in story]
        key = f"{name}_s" if units == "s" else name
        writer.floats(key, _ROW, [None if value is None else float(value) for value in values], units, long_name)
    writer.integers("phases", _ROW, [one.phases for one in story], "1", "number of bursts")
    events = [one.metadata_events for one in story]
    writer.integers("metadata_events", _ROW, events, "1", "opens, closes, deletions and the like where nothing moves")
