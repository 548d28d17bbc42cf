"""All operations and metadata events of a trace as named columns, for tables in memory and in files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..model.arrays import Array, Ints, Links, Mask, Rows, Ticks, Unsigned, column_at
from ..model.codes import METADATA_NAMES, OTHER_CALL, UNDEFINED_TIME, UNDEFINED_UINT64, IoFlag, IoMode, Status
from ..model.definitions import Definitions
from ..model.errors import import_library
from ..model.events import EVENT_TYPES
from .attribution.attribution import TraceBlock
from .attribution.calls.functions import NO_EVENT, NamedRows
from .attribution.calls.metadata_calls import MetadataCalls
from .attribution.file_positions import AccessKinds
from .handles.scope import Scope

MODES: Final = {IoMode.READ: "read", IoMode.WRITE: "write", IoMode.FLUSH: "flush"}
DIRECTIONS_OF_MODES: Final = tuple(MODES.values())[:2]
KINDS: Final = (*MODES.values(), *METADATA_NAMES.values(), OTHER_CALL)
"""What a row is of: an operation, a metadata event, or a call without one."""
STATUSES: Final = {
    Status.COMPLETE: "complete",
    Status.CANCELLED: "cancelled",
    Status.NEVER_COMPLETED: "never completed",
}


class TellsIterations(Protocol):
    """What knows loops."""

    def reader(self) -> Callable[[TraceBlock], tuple[Ints, Ints]]:
        """Return what gives the loop and iteration of each operation, block by block; −1 for those in none."""


class Column(NamedTuple):
    """One column of a table.

    Attributes
    ----------
    values : (n,)
        Numbers, or places in `names` as int32.
    missing : bool (n,) or None
        Where a value means nothing; None where all have a meaning.
    names : tuple of str or None
        What `values` stand for, each name once.
    """

    values: Array
    missing: Mask | None = None
    names: tuple[str, ...] | None = None


NAMES: Final = None
"""The type of a column of names."""
WHO: Final = ("function", "caller", "callpath")
"""The columns of who called, where that is known."""
LOOP: Final = ("loop", "iteration")
"""The columns of loops, where these were looked for."""
_COLUMNS: Final[dict[str, Any]] = {
    "operation": np.int64,
    "layer": NAMES,
    "parent": np.int64,
    "parent_layer": NAMES,
    "inferred": np.bool_,
    "collective_call": np.int64,
    "loop": np.int64,
    "iteration": np.int64,
    "location": np.uint64,
    "rank": np.int64,
    "node": NAMES,
    "handle": np.uint32,
    "parent_handle": np.uint32,
    "file": NAMES,
    "selected": np.bool_,
    "own": np.bool_,
    "kind": NAMES,
    "direction": NAMES,
    "collective": np.bool_,
    "non_blocking": np.bool_,
    **dict.fromkeys(WHO, NAMES),
    "begin_s": np.float64,
    "issued_s": np.float64,
    "end_s": np.float64,
    "begin_ticks": np.int64,
    "end_ticks": np.int64,
    "bytes_requested": np.uint64,
    "bytes_moved": np.uint64,
    "offset": np.uint64,
    "access": NAMES,
    "status": NAMES,
    **EVENT_TYPES,
}
"""All columns in their order, and what a row has in those that mean nothing for it."""


def operation_table(
    traffic: TraceBlock,
    rows: Rows,
    access: npt.NDArray[np.int8],
    called: Mapping[str, NamedRows] | None = None,
    call: Ints | None = None,
    first: int = 0,
    loops: tuple[Ints, Ints] | None = None,
) -> dict[str, Column]:
    """Return some operations as columns by their names, as `iostrata.write_parquet` tells them.

    Parameters
    ----------
    rows : intp (n,)
        Places in ``traffic.operations``.
    access : int8 (n,)
        As `AccessKinds.of` tells of them.
    called : mapping of str to (names, int32 (m,)), optional
        Who called each operation of `traffic`: columns by their names.
    call : int64 (n,), optional
        Number of the collective call of each operation of `traffic`, −1 for none; unless given, as they begin.
    first : int
        Number of the first operation of `traffic`.
    loops : (int64 (m,), int64 (m,)), optional
        Loop and iteration of each operation of `traffic`, −1 for none.
    """
    operations = traffic.operations.take(rows)
    parent = traffic.attribution.parent[rows]
    calls = (traffic.calls if call is None else call)[rows]

    def amounts(values: Unsigned) -> Column:
        return Column(values, values == UNDEFINED_UINT64)

    modes = np.where(operations.mode < len(MODES), operations.mode.astype(np.int32), -1)
    known = {
        **_places(traffic.definitions, operations.location, operations.process, operations.handle, traffic.file[rows]),
        **_times(traffic.definitions, begin=operations.begin, issued=operations.issued, end=operations.end),
        "operation": Column(rows + first),
        "layer": _named(traffic.layer[rows], traffic.layers),
        "parent": Column(parent + first, parent < 0),
        "parent_layer": _named(np.where(parent >= 0, traffic.layer[parent], -1), traffic.layers),
        "inferred": Column(traffic.attribution.inferred[rows]),
        "collective_call": Column(calls, calls < 0),
        "selected": Column(traffic.selected[rows]),
        "own": Column(traffic.own[rows]),
        "kind": _named(modes, KINDS),
        "direction": _named(np.where(modes < len(DIRECTIONS_OF_MODES), modes, -1), DIRECTIONS_OF_MODES),
        "collective": Column((operations.flags & np.uint32(IoFlag.COLLECTIVE)) != 0),
        "non_blocking": Column((operations.flags & np.uint32(IoFlag.NON_BLOCKING)) != 0),
        **{name: Column(one[rows], one[rows] < 0) for name, one in zip(LOOP, loops or (), strict=False)},
        **{name: _named(codes[rows], texts) for name, (texts, codes) in (called or {}).items()},
        "bytes_requested": amounts(operations.requested),
        "bytes_moved": amounts(operations.moved),
        "offset": amounts(operations.offset),
        "access": _named(access, AccessKinds.NAMES),
        "status": _named(operations.status, STATUSES.values()),
    }
    leave_out = *(WHO if called is None else ()), *(LOOP if loops is None else ())
    return _table(known, len(rows), leave_out)


def metadata_table(found: MetadataCalls, scope: Scope, functions: Sequence[str]) -> dict[str, Column]:
    """Return metadata events and calls without an event as the columns of `operation_table`.

    Parameters
    ----------
    functions : sequence of str
        Names of the regions.
    """
    definitions, selection = scope.definitions, scope.selection
    process = definitions.locations.group[found.location]
    higher = column_at(scope.stack.higher, found.handle)
    reasons = np.append(selection.file_reason, -1)[found.file]
    selected = np.where(found.handle >= 0, selection.reason_of(found.handle), reasons) < 0
    kinds = np.full(256, KINDS.index(OTHER_CALL))
    kinds[list(METADATA_NAMES)] = len(MODES) + np.arange(len(METADATA_NAMES))
    no, is_event = Column(np.zeros(len(found), np.bool_)), found.kind != NO_EVENT
    is_of_file = (found.handle >= 0) | (found.file >= 0)
    # A seek may go back: as numbers with a sign more readers take them.
    of_events: dict[str, Array] = dict(
        zip(EVENT_TYPES, (found.time, found.mode, found.flags, found.value.view(np.int64)), strict=True)
    )
    known = {
        **_places(definitions, found.location, process, found.handle, found.file),
        **_times(definitions, begin=found.begin, end=found.end),
        "layer": _named(found.layer, scope.order),
        "inferred": no,
        "selected": Column(selected & is_of_file, ~is_of_file),
        "own": Column((found.handle >= 0) & (higher < 0), found.handle < 0),
        "kind": _named(kinds[found.kind], KINDS),
        "collective": no,
        "non_blocking": no,
        "function": _named(found.region, functions),
        "offset": Column(found.offset, found.offset == UNDEFINED_UINT64),
        **{name: Column(column, ~is_event) for name, column in of_events.items()},
    }
    return _table(known, len(found))


def _table(known: Mapping[str, Column], count: int, leave_out: tuple[str, ...] = ()) -> dict[str, Column]:
    """Return all columns in their order; those that are not known have no meaning in any row."""
    nothing = np.ones(count, np.bool_)
    no_name = Column(np.full(count, -1, np.int32), nothing, ())
    return {
        name: known.get(name) or (no_name if kind is NAMES else Column(np.zeros(count, kind), nothing))
        for name, kind in _COLUMNS.items()
        if name not in leave_out
    }


def _places(definitions: Definitions, location: Links, process: Links, handle: Links, file: Links) -> dict[str, Column]:
    """Return the columns on where rows happened."""
    groups, handles = definitions.groups, definitions.handles
    # A row of −1 takes the last entry, which means −1 too.
    rank, node = (np.append(column, -1)[process] for column in (groups.rank, groups.node))
    above = np.append(handles.parent, -1)[handle]
    ids = np.append(handles.id, 0)
    return {
        "location": Column(definitions.locations.id[location]),
        "rank": Column(rank, rank < 0),
        "node": _named(node, definitions.system_tree.name),
        "handle": Column(ids[handle], handle < 0),
        "parent_handle": Column(ids[above], above < 0),
        "file": _named(file, definitions.files.name),
    }


def _times(definitions: Definitions, **ticks: Ticks) -> dict[str, Column]:
    """Return times in s, and begin and end in ticks."""
    second = definitions.clock.ticks_per_second
    missing = {name: None if name == "begin" else values == UNDEFINED_TIME for name, values in ticks.items()}
    seconds = {f"{name}_s": Column(values / second, missing[name]) for name, values in ticks.items()}
    return {**seconds, **{f"{name}_ticks": Column(ticks[name], missing[name]) for name in ("begin", "end")}}


def _named(codes: Array, texts: Iterable[str]) -> Column:
    """Return a column of names, those out of the trace as valid UTF-8."""
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    place = {text: number for number, text in enumerate(dict.fromkeys(clean))}
    # Files of several nodes have one name. A code of −1 takes the last entry.
    number = np.array([*(place[text] for text in clean), -1], np.int32)[codes]
    return Column(number, number < 0, tuple(place))


def data_frame(columns: Mapping[str, Column]) -> Any:
    """Return columns as a ``pandas.DataFrame``, with pandas' own missing value where a value means nothing."""
    pandas = import_library("pandas")

    def series(column: Column) -> Any:
        values, missing = column.values, column.missing
        names: Any = column.names
        if names is not None:
            return pandas.Categorical.from_codes(values, names)
        if missing is None:
            return values
        if values.dtype.kind == "f":
            return np.where(missing, np.nan, values)
        return pandas.arrays.IntegerArray(values.copy(), missing)

    return pandas.DataFrame({name: series(column) for name, column in columns.items()})
