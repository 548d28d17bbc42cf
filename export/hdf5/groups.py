"""The groups ``handles``, ``statistics`` and ``damage`` of an HDF5 file."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...layers.attribution.calls.calls import CALL_KINDS, Calls
from ...layers.dataset import VARIABLES
from ...layers.selection.directions import DIRECTIONS
from ...layers.summary.statistics import LayerStatistics
from ...layers.trace import Trace
from ...model.metrics import columns_of
from ...model.stream.damage import DamageReport
from .variables import GroupWriter

_HANDLE_NUMBERS: Final = (
    ("id", "1", "OTF2 id of the handle"),
    ("depth", "1", "number of ancestors"),
    ("operations", "1", "operations on the handle, flushes among them"),
    ("bytes_read", "byte", "bytes read through the handle"),
    ("bytes_written", "byte", "bytes written through the handle"),
    ("subtree_operations", "1", "operations on the handle and all below it"),
    ("subtree_bytes_read", "byte", "bytes read through the handle and all below it, once in each layer"),
    ("subtree_bytes_written", "byte", "bytes written through the handle and all below it, once in each layer"),
    ("metadata_events", "1", "events that name the handle and move no data"),
    ("ranks", "1", "processes that made or used the handle"),
)

_METADATA_TIME: Final = "time of the calls that opened, closed, ... the handle, from Enter to Leave, over all ranks"

_LOST: Final = (
    ("location", "OTF2 id of the damaged location"),
    ("events_expected", "events that the definitions promise"),
    ("events_read", "events that were read"),
)


def write_handles(writer: GroupWriter, trace: Trace, names: tuple[str, ...]) -> None:
    """Write the forest of handles, one row a handle; all handles, also those of files that are set aside.

    The name of a handle's layer stands in a variable ``layer``, which xarray's DataTree hides behind the coordinate of
    that name of the root; ``layer_row`` says the same where ``layer`` cannot be seen.

    Parameters
    ----------
    names : tuple of str
        Layers of the dimension ``layer`` of the root.
    """
    row, handles = ("handle",), trace.handles
    writer.dimension("handle", len(handles))
    writer.numbers(
        "parent", row, handles.parent, long_name="row of the parent in the dimension handle, -1 at a root", units="1"
    )
    rows: dict[str | None, int] = {name: number for number, name in enumerate(names)}
    of_forest = np.array([rows.get(name, -1) for name in (*handles.layers, None)], np.int32)  # −1 is the last
    writer.numbers(
        "layer_row",
        row,
        of_forest[handles.layer_row],
        long_name="row of the handle's layer in the dimension layer of the root, -1 where the layer is not there",
        units="1",
    )
    for name, units, long_name in _HANDLE_NUMBERS:
        writer.numbers(name, row, getattr(handles, name), long_name=long_name, units=units)
    if trace.calls is not None:
        seconds = trace.calls.handle_seconds(len(handles))
        writer.numbers("metadata_s", row, seconds, long_name=_METADATA_TIME, units="s")
    aside = [reason is not None for reason in handles.set_aside]
    writer.flags("set_aside", row, aside, "whether the handle's file counts for no layer")
    texts: tuple[tuple[str, Sequence[str | None], str], ...] = (
        (
            "layer",
            handles.layer,
            "layer of the handle, empty where the trace does not define its paradigm; "
            "readers that merge groups show the root's layer in its place, for them there is layer_row",
        ),
        ("file", handles.file, "file of the handle, empty where it has none"),
        ("scope", handles.scope, "part of the machine on which that name of a file holds, empty where on all of it"),
        ("flags", handles.flags, "flags of the handle's definition"),
        ("name", handles.name, "name of the handle"),
        ("set_aside_reason", handles.set_aside, "why the handle is set aside, empty where it is not"),
    )
    for name, values, long_name in texts:
        writer.text(name, row, [value or "" for value in values], long_name=long_name)


def write_axes(writer: GroupWriter, names: tuple[str, ...]) -> None:
    """Write the coordinates of the root's dimensions in a group too: readers that open it alone look nowhere else."""
    writer.text("layer", ("layer",), names, **VARIABLES["layer"])
    writer.text("direction", ("direction",), DIRECTIONS, **VARIABLES["direction"])


def write_statistics(writer: GroupWriter, trace: Trace, names: tuple[str, ...]) -> None:
    """Write the numbers of ``iostrata layers`` on (layer, direction); those of all traffic, whatever is exported.

    What the recorder does not tell is not there.
    """
    grid = ("layer", "direction")
    write_axes(writer, names)
    found = [trace.layers[name].statistics(direction) for name in names for direction in DIRECTIONS]
    for column in columns_of(LayerStatistics):
        if not trace.definitions.recording.reason(*column.needs):
            writer.metric(column, grid, [column.value(one) for one in found])
    if trace.calls is not None:
        _write_calls(writer, trace.calls, names)
    aside = trace.set_aside
    writer.attributes(set_aside_operations=aside.operations, set_aside_bytes=aside.bytes, set_aside_files=aside.files)


def _write_calls(writer: GroupWriter, calls: Calls, names: tuple[str, ...]) -> None:
    """Write what the calls took that move no data, on (layer, call_kind)."""
    grid, kinds = ("layer", "call_kind"), tuple(CALL_KINDS)
    writer.dimension("call_kind", len(kinds))
    writer.text("call_kind", ("call_kind",), kinds, long_name="what calls did that move no data")
    found = {(one.layer, one.kind): one for one in calls.call_times}
    cells = [found.get((name, kind)) for name in names for kind in kinds]
    counts = [0 if one is None else one.calls for one in cells]
    writer.amounts("metadata_calls", grid, counts, "1", "calls that move no data")
    for name, long_name in (("summed_s", "sum of their times"), ("busy_s", "time in which any was under way")):
        seconds = [0.0 if one is None else getattr(one, name) for one in cells]
        writer.floats(f"metadata_{name}", grid, seconds, "s", f"calls that move no data, Enter to Leave: {long_name}")


def write_damage(writer: GroupWriter, damage: DamageReport) -> None:
    """Write what the trace has lost, one row a location that lost something."""
    row = ("location",)
    lost = damage.locations
    writer.attributes(
        damaged=int(damage.damaged), events_expected=damage.events_expected, events_read=damage.events_read
    )
    writer.dimension("location", len(lost))
    for name, long_name in _LOST:
        writer.amounts(name, row, [getattr(one, name) for one in lost], "1", long_name)
    writer.text("reason", row, [one.reason for one in lost], long_name="what is wrong with the location's events")
