"""The groups ``handles``, ``statistics`` and ``damage`` of an HDF5 file."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...layers.handles.forest import HandleForest
from ...layers.protocols import AnyTrace
from ...layers.selection.directions import DIRECTIONS
from ...layers.statistics.statistics import LayerStatistics
from ...model.damage import DamageReport
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

_COUNTS: Final[tuple[tuple[str, str, str, Callable[[LayerStatistics], int | float]], ...]] = (
    ("operations", "1", "operations", lambda found: found.operations),
    ("bytes", "byte", "bytes moved by completed operations", lambda found: found.bytes),
    ("files", "1", "distinct files", lambda found: found.files),
    ("handles", "1", "distinct handles", lambda found: found.handles),
    ("ranks", "1", "distinct processes", lambda found: found.ranks),
    ("own_operations", "1", "operations that no higher layer caused", lambda found: found.own_operations),
    ("own_bytes", "byte", "bytes moved by operations that no higher layer caused", lambda found: found.own_bytes),
    (
        "undefined_bytes_operations",
        "1",
        "operations of which the trace does not know the bytes moved",
        lambda found: found.undefined_bytes_operations,
    ),
    ("cancelled_operations", "1", "operations cancelled", lambda found: found.cancelled_operations),
    (
        "never_completed_operations",
        "1",
        "operations that never completed",
        lambda found: found.never_completed_operations,
    ),
)

_SECONDS: Final[tuple[tuple[str, str, Callable[[LayerStatistics], float]], ...]] = (
    ("busy_s", "time in which at least one operation that ended was under way", lambda found: found.busy_s),
    ("summed_s", "sum of the durations of operations that ended", lambda found: found.summed_s),
    ("busy_step_s", "distance of the points in time that busy_s was counted at, 0: exact", lambda one: one.busy_step_s),
)

_REQUESTS: Final = (
    ("min", "smallest request"),
    ("p50", "request that half of the requests do not exceed"),
    ("p90", "request that nine tenths of the requests do not exceed"),
    ("max", "largest request"),
)


def write_handles(writer: GroupWriter, handles: HandleForest, names: tuple[str, ...]) -> None:
    """Write the forest of handles, one row a handle; all handles, also those of files that are set aside.

    The name of a handle's layer stands in a variable ``layer``, which xarray's DataTree hides behind the coordinate of
    that name of the root; ``layer_row`` says the same where ``layer`` cannot be seen.

    Parameters
    ----------
    writer : GroupWriter
    handles : HandleForest
    names : tuple of str
        Layers of the dimension ``layer`` of the root.
    """
    row = ("handle",)
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
    aside = np.array([reason is not None for reason in handles.set_aside], np.int8)
    writer.numbers(
        "set_aside",
        row,
        aside,
        long_name="whether the handle's file counts for no layer",
        flag_values=np.array([0, 1], np.int8),
        flag_meanings="no yes",
    )
    texts: tuple[tuple[str, Sequence[str | None], str], ...] = (
        (
            "layer",
            handles.layer,
            "layer of the handle, empty where the trace does not define its paradigm; "
            "readers that merge groups show the root's layer in its place, for them there is layer_row",
        ),
        ("file", handles.file, "file of the handle, empty where it has none"),
        ("name", handles.name, "name of the handle"),
        ("set_aside_reason", handles.set_aside, "why the handle is set aside, empty where it is not"),
    )
    for name, values, long_name in texts:
        writer.text(name, row, [value or "" for value in values], long_name=long_name)


def write_statistics(writer: GroupWriter, trace: AnyTrace, names: tuple[str, ...]) -> None:
    """Write the numbers of ``iostrata layers`` on (layer, direction); those of all traffic, whatever is exported."""
    grid = ("layer", "direction")
    shape = (len(names), len(DIRECTIONS))
    found = [trace.layers[name].statistics(direction) for name in names for direction in DIRECTIONS]
    for name, units, long_name, count in _COUNTS:
        values = _amounts([count(one) for one in found]).reshape(shape)
        writer.numbers(name, grid, values, long_name=long_name, units=units)
    for name, long_name, seconds in _SECONDS:
        values = np.array([seconds(one) for one in found], np.float64).reshape(shape)
        writer.numbers(name, grid, values, long_name=long_name, units="s")
    for name, long_name in _REQUESTS:
        sizes = [getattr(one.request_bytes, name) for one in found]
        values = np.array([np.nan if size is None else size for size in sizes], np.float64).reshape(shape)
        writer.numbers(f"request_bytes_{name}", grid, values, long_name=long_name, units="byte")
    aside = trace.set_aside
    writer.attributes(set_aside_operations=aside.operations, set_aside_bytes=aside.bytes, set_aside_files=aside.files)


def write_damage(writer: GroupWriter, damage: DamageReport) -> None:
    """Write what the trace has lost, one row a location that lost something."""
    row = ("location",)
    lost = damage.locations
    writer.attributes(
        damaged=int(damage.damaged), events_expected=damage.events_expected, events_read=damage.events_read
    )
    writer.dimension("location", len(lost))
    columns = (
        ("location", "OTF2 id of the damaged location", [one.location for one in lost]),
        ("events_expected", "events that the definitions promise", [one.events_expected for one in lost]),
        ("events_read", "events that were read", [one.events_read for one in lost]),
    )
    for name, long_name, values in columns:
        writer.numbers(name, row, _amounts(values), long_name=long_name, units="1")
    writer.text("reason", row, [one.reason for one in lost], long_name="what is wrong with the location's events")


def _amounts(values: Sequence[int | float]) -> npt.NDArray[Any]:
    """Return uint64 where all values are whole and fit it, else float64."""
    if all(isinstance(value, int) and value < 2**64 for value in values):
        return np.array(values, np.uint64)
    return np.array(values, np.float64)
