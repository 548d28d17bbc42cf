"""What a recorder tells survives as text; text of anyone else is refused, whatever it is."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.model.recording import Counters, Recording
from iostrata.model.stream.damage import DamageReport, LocationDamage
from iostrata.model.stream.keeping import kept_of, kept_text

LOCATIONS = np.array([7, 3, 2**63], np.uint64)
FILES, RANKS = 3, 2**20

texts = st.text(st.characters(exclude_categories=["Cs"]))
counts = st.integers(-1, 2**62)
counters = st.lists(
    st.tuples(st.integers(0, 1), st.integers(-1, FILES - 1), st.integers(-1, RANKS - 1), counts, counts, counts, counts)
).map(
    lambda rows: Counters(
        *(np.array([row[place] for row in rows], np.int32 if place < 3 else np.int64) for place in range(7)),
        ("POSIX", "H5D"),
        ("POSIX", "HDF5"),
    )
)
recordings = st.builds(
    Recording,
    recorder=texts,
    format=texts,
    facts=st.dictionaries(texts.filter(lambda name: name not in ("recorder", "format")), texts | st.integers()),
    rows=st.sampled_from(["operations", "intervals"]),
    handles=st.sampled_from(["recorded", "inferred", "absent"]),
    **{name: st.booleans() for name in ("ranks", "nodes", "threads", "metadata", "offsets", "collective")},
    counters=st.none() | counters,
    notes=st.lists(texts).map(tuple),
    remedy=texts,
)
losses = st.lists(
    st.builds(
        lambda row, expected, read, reason: LocationDamage(
            int(LOCATIONS[row]) if row >= 0 else -1, row, expected, read, reason
        ),
        st.integers(-1, 2),
        st.integers(0, 2**62),
        st.integers(0, 2**62),
        texts,
    )
).map(tuple)


def plain(recording):
    """Return what can be compared of a recording."""
    found = {one.name: getattr(recording, one.name) for one in fields(Recording) if one.name != "counters"}
    table = recording.counters
    return found, None if table is None else {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(table).items()
    }


@given(recording=recordings, lost=losses, irregular=st.dictionaries(texts, st.integers(0, 2**62)))
def test_what_is_kept_comes_back(recording, lost, irregular):
    text = kept_text(recording, DamageReport(5, 5, lost, irregular=irregular))
    assert text.isascii()
    found = kept_of(text, LOCATIONS, FILES, RANKS)
    assert plain(found.recording) == plain(recording)
    assert (found.losses, found.irregular) == (tuple(replace(one, inherited=True) for one in lost), irregular)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
NAMES = sorted(json.loads(kept_text(Recording())))


@given(changes=st.dictionaries(st.sampled_from(NAMES), json_values, min_size=1))
def test_anything_else_is_refused_or_sound(changes):
    """Nothing but a ValueError comes, and what is taken is what could have been written."""
    text = json.dumps({**json.loads(kept_text(Recording())), **changes})
    try:
        found = kept_of(text, LOCATIONS, FILES, RANKS)
    except ValueError:
        return
    again = kept_of(
        kept_text(found.recording, DamageReport(0, 0, found.losses, irregular=found.irregular)), LOCATIONS, FILES, RANKS
    )
    assert plain(again.recording) == plain(found.recording)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '"x"', "null", "{}"])
def test_no_such_text(text):
    with pytest.raises(ValueError, match=r"."):
        kept_of(text, LOCATIONS, FILES, RANKS)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("module", [2]),
        ("file", [3]),
        ("rank", [2**31]),
        ("rank", [RANKS]),
        ("counts", {"seeks": [1, 2]}),
        ("reads", [2**63]),
        ("writes", [1, 2]),
        ("reads", 1),
    ],
)
def test_counters_that_cannot_be(column, value):
    one = np.zeros(1, np.int32)
    big = one.astype(np.int64)
    table = Counters(one, one, one, big, big, big, big, ("POSIX",), ("POSIX",))
    document = json.loads(kept_text(replace(Recording(), counters=table)))
    assert kept_of(json.dumps(document), LOCATIONS, FILES, RANKS).recording.counters is not None
    document["counters"][column] = value
    with pytest.raises(ValueError, match=r"."):
        kept_of(json.dumps(document), LOCATIONS, FILES, RANKS)


def test_half_a_surrogate_cannot_reach_a_terminal():
    document = {**json.loads(kept_text(Recording())), "recorder": "\ud800"}
    kept_of(json.dumps(document), LOCATIONS, FILES, RANKS).recording.recorder.encode()
