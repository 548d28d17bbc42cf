"""Lifetimes of handles against a walk through the events with a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iostrata.layers.handles.metadata import Origin, handle_lifetimes, metadata_events
from iostrata.model.codes import UNDEFINED_TIME, IoRecord

CREATE, DESTROY, DUPLICATE = IoRecord.CREATE_HANDLE, IoRecord.DESTROY_HANDLE, IoRecord.DUPLICATE_HANDLE
HANDLES = [("POSIX", "/a", -1), ("POSIX", "/b", -1), ("POSIX", None, -1), ("ISOC", "/a", -1)]


def rows_of(lifetimes):
    columns = ("handle", "process", "epoch", "origin", "created", "destroyed")
    return list(zip(*(getattr(lifetimes, name).tolist() for name in columns), strict=True))


def test_one_life_of_each_kind(make_definitions, make_events, make_operations):
    definitions = make_definitions(HANDLES, precreated=[2])
    events = make_events(
        [
            {"kind": CREATE, "time": 5, "handle": 10},
            {"kind": DUPLICATE, "time": 6, "handle": 10, "value": 11},
            {"kind": DESTROY, "time": 7, "handle": 10},
            {"kind": CREATE, "time": 8, "handle": 10},
            {"kind": DESTROY, "time": 9, "handle": 12},
            {"kind": DESTROY, "time": 3, "handle": 11, "location": 1},
        ]
    )
    operations = make_operations(
        [{"handle": 2, "begin": 1, "end": 2, "process": 1}, {"handle": 3, "begin": 1, "end": 2}]
    )
    lifetimes = handle_lifetimes(metadata_events(events, definitions), operations, definitions)
    never = UNDEFINED_TIME
    assert rows_of(lifetimes) == [
        (0, 0, 0, Origin.CREATED, 5, 7),
        (0, 0, 1, Origin.CREATED, 8, never),
        (1, 0, 0, Origin.DUPLICATED, 6, never),
        (1, 1, 0, Origin.NEVER_CREATED, never, 3),
        (2, 0, 0, Origin.PRECREATED, never, 9),
        (2, 1, 0, Origin.PRECREATED, never, never),
        (3, 0, 0, Origin.NEVER_CREATED, never, never),
    ]
    assert (lifetimes.origin == Origin.NEVER_CREATED).tolist() == [False, False, False, True, False, False, True]
    assert (lifetimes.destroyed == UNDEFINED_TIME).tolist() == [False, True, True, False, False, True, True]


def walked(rows, operations, precreated):
    """The same by walking the events of each process in the order of time."""
    open_epoch, found = {}, []
    for row in sorted(rows, key=lambda row: row["time"]):
        handle = (row["value"] if row["kind"] == DUPLICATE else row["handle"]) - 10
        if not 0 <= handle < len(HANDLES):
            continue
        key = (handle, row["location"])
        epochs = [life for life in found if tuple(life[:2]) == key]
        if row["kind"] != DESTROY:
            origin = Origin.DUPLICATED if row["kind"] == DUPLICATE else Origin.CREATED
            found.append([*key, len(epochs), origin, row["time"], UNDEFINED_TIME])
            open_epoch[key] = found[-1]
        elif open_epoch.get(key) is not None:
            open_epoch[key][5] = row["time"]
            open_epoch[key] = None
        else:
            first = not epochs and handle in precreated
            origin = Origin.PRECREATED if first else Origin.NEVER_CREATED
            found.append([*key, len(epochs), origin, UNDEFINED_TIME, row["time"]])
    for handle, process in {(row["handle"], row["process"]) for row in operations}:
        if not any(life[:2] == [handle, process] for life in found):
            origin = Origin.PRECREATED if handle in precreated else Origin.NEVER_CREATED
            found.append([handle, process, 0, origin, UNDEFINED_TIME, UNDEFINED_TIME])
    return sorted(tuple(life) for life in found)


event_rows = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from([CREATE, DESTROY, DESTROY, DUPLICATE, IoRecord.SEEK]),
            "handle": st.integers(9, 14),
            "value": st.integers(9, 14),
            "location": st.integers(0, 2),
        }
    ),
    max_size=30,
)
used = st.lists(st.fixed_dictionaries({"handle": st.integers(0, 3), "process": st.integers(0, 2)}), max_size=6)


@given(event_rows, used, st.sets(st.integers(0, 3)), st.randoms())
def test_any_events_give_the_lives_of_the_walk(
    make_definitions, make_events, make_operations, rows, operations, precreated, random
):
    rows = [{**row, "time": time} for time, row in enumerate(rows)]
    definitions = make_definitions(HANDLES, precreated=sorted(precreated))
    shuffled = list(rows)
    random.shuffle(shuffled)
    metadata = metadata_events(make_events(shuffled), definitions)
    columns = make_operations([{**row, "begin": 0, "end": 1} for row in operations])
    expected = walked([row for row in rows if row["kind"] != IoRecord.SEEK], operations, precreated)
    assert rows_of(handle_lifetimes(metadata, columns, definitions)) == expected


def test_metadata_events_know_their_layer_and_file(make_definitions, make_events):
    definitions = make_definitions(HANDLES)
    events = make_events(
        [
            {"kind": IoRecord.SEEK, "time": 1, "handle": 13, "location": 2},
            {"kind": IoRecord.DELETE_FILE, "time": 2, "mode": 4, "value": 51},
            {"kind": IoRecord.DELETE_FILE, "time": 3, "mode": 99, "value": 99},
            {"kind": IoRecord.TRY_LOCK, "time": 5, "handle": 12},
            {"kind": IoRecord.CREATE_HANDLE, "time": 6, "handle": 99},
        ]
    )
    metadata = metadata_events(events, definitions)
    assert metadata.time.tolist() == [1, 2, 3, 5, 6]
    assert metadata.process.tolist() == [2, 0, 0, 0, 0]
    assert metadata.handle.tolist() == [3, -1, -1, 2, -1]
    assert metadata.file.tolist() == [0, 1, -1, -1, -1]
    # Paradigm ids are 3 + row: 4 is ISO C, the table's row 1.
    assert metadata.paradigm.tolist() == [1, 1, -1, 0, -1]
    assert metadata.new_handle.dtype == np.int32
