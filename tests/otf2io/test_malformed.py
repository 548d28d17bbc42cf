"""Archives that break the rules of OTF2 knowingly: both engines tell the same, and neither dies of it."""

import itertools
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from iostrata.model.errors import TraceError
from iostrata.otf2io.archive import open_archive

from .reading import EventsRead, read_events

DAMAGE = Path(__file__).parents[2] / "benchmarks" / "damage"


@pytest.fixture
def read_both(made: SimpleNamespace, tmp_path: Path) -> Callable[..., EventsRead]:
    """Return a function that changes the local definitions and events of location 0 and reads by both engines."""

    numbers = itertools.count()

    def read(local: Any = None, events: Any = None) -> EventsRead:
        base, folder = made.base(), tmp_path / str(next(numbers))
        contents = replace(base, local=dict(base.local), events=dict(base.events))
        if local is not None:
            contents.local[0] = local(list(base.local[0]))
        if events is not None:
            (chunk,) = base.events[0]
            contents.events[0] = [replace(chunk, records=events(list(chunk.records)))]
        made.records.write(contents, folder)
        archive = open_archive(folder)
        direct, library = (read_events(archive, engine, workers=1) for engine in ("direct", "library"))
        assert [one.row for one in direct.damage.locations] == [one.row for one in library.damage.locations]
        for column in fields(direct.events):
            assert (getattr(direct.events, column.name) == getattr(library.events, column.name)).all(), column.name
        return direct

    return read


def test_records_taken_apart_and_put_together_are_the_same_bytes(
    made: SimpleNamespace, fixtures: Path, tmp_path: Path
) -> None:
    for name in ("ncckpt4", "threads2", "nonblocking4"):
        made.records.write(made.records.decode(fixtures / name), tmp_path / name)
        files = [path.relative_to(fixtures / name) for path in (fixtures / name).rglob("*.[ed][ve][tf]")]
        assert len(files) > 5
        assert all((tmp_path / name / file).read_bytes() == (fixtures / name / file).read_bytes() for file in files)


def test_the_archive_with_every_record_is_sound(read_both: Callable[..., EventsRead]) -> None:
    read = read_both()
    assert not read.damage.damaged
    assert set(read.events.kind.tolist()) == set(range(69, 83))


def test_definitions_that_send_the_library_back(made: SimpleNamespace, tmp_path: Path) -> None:
    base = made.base(0, True)
    # Lengths that are too short leave the library among the fields, which it takes for records then.
    texts = [replace(one, values=(one.values[0], b"long" * 3000)) for one in base.definitions if one.kind == 10]
    others = [one for one in base.definitions if one.kind != 10]
    outcomes = set()
    for row, length in itertools.product(range(len(others)), (0, 1)):
        changed = [*texts, *others[:row], replace(others[row], length=length), *others[row + 1 :]]
        made.records.write(replace(base, definitions=changed), tmp_path / f"{row} {length}")
        try:
            open_archive(tmp_path / f"{row} {length}")
        except TraceError as error:
            outcomes.add("do not end" if "do not end" in str(error) else "other")
    assert outcomes == {"do not end", "other"}


@pytest.mark.parametrize("change", [-3, -1, 1, 2**40])
def test_another_number_of_definitions_than_the_anchor_promises(
    made: SimpleNamespace, tmp_path: Path, change: int
) -> None:
    base = made.base()
    anchor = bytearray(base.anchor)
    anchor[38:46] = (len(base.definitions) + change).to_bytes(8, "little")
    made.records.write(replace(base, anchor=anchor), tmp_path / "archive")
    with pytest.raises(TraceError, match=r"definitions .* are damaged"):
        open_archive(tmp_path / "archive")


@pytest.mark.parametrize("count", [7, 1000, 2**32, 2**61, 2**62, 2**63, 2**64 - 1])
def test_id_maps_that_claim_more_entries_than_they_have(
    made: SimpleNamespace, read_both: Callable[..., EventsRead], count: int
) -> None:
    rows = [row for row, record in enumerate(made.base().local[0]) if record.kind == made.records.MAPPING]
    for row in rows:
        read = read_both(
            local=lambda found, row=row: [*found[:row], found[row].with_value(1, count), *found[row + 1 :]]
        )
        assert [one.events_read for one in read.damage.locations] == [0]


@pytest.mark.parametrize("stamp", [0, 2**63 - 1, 2**63, 2**64 - 30 * 10**9, 2**64 - 1])
def test_times_half_of_all_numbers_away_from_the_clock_offsets(
    made: SimpleNamespace, read_both: Callable[..., EventsRead], stamp: int
) -> None:
    last = made.records.Record(made.records.CLOCK_OFFSET, "wcw", (2**64 - 1, 77, 0))
    for offsets in (1, 2):
        read_both(
            local=lambda found, offsets=offsets: [*found[:offsets], last, *found[2:]],
            events=lambda found: [found[0].with_value(0, stamp), *found[1:]],
        )


@pytest.mark.parametrize(
    ("attributes", "sound"),
    [
        (((0, 4, 7), (1, 4, 8)), True),
        (((0, 4, 7), (0, 4, 8)), False),
        (((0, 4, 7), (64, 4, 8), (128, 4, 9)), True),
        (((0, 4, 7), (64, 4, 8), (0, 4, 9)), False),
        (((1, 11, 2**32), (0, 4, 7)), False),
        (((1, 7, 2**31), (0, 4, 7)), True),
        (((1, 13, 2**40), (0, 4, 7)), True),
        (((1, 15, 2**40), (0, 4, 7)), False),
    ],
)
def test_attributes_twice_and_wider_than_their_type(
    made: SimpleNamespace,
    read_both: Callable[..., EventsRead],
    attributes: tuple[tuple[int, int, int], ...],
    sound: bool,
) -> None:
    values = (len(attributes), *(value for attribute in attributes for value in attribute))
    record = made.records.Record(made.records.ATTRIBUTES, "c" + "cbc" * len(attributes), values)

    def put(found: list[Any]) -> list[Any]:
        row = next(row for row, one in enumerate(found) if one.kind == made.records.ATTRIBUTES)
        return [*found[:row], record, *found[row + 1 :]]

    read = read_both(events=put)
    assert read.damage.damaged is not sound
    if sound:
        assert read.events.offset[read.events.kind == 75][0] == 7


def test_a_cut_file_that_happens_to_end_as_whole_ones_do(made: SimpleNamespace, tmp_path: Path) -> None:
    base = made.base(24)
    chunks = list(base.events[0])
    rows = [row for row, record in enumerate(chunks[1].records) if record.kind == 75]
    changed = chunks[1].records[rows[-1]].with_value(3, 0x010203)
    chunks[1] = replace(chunks[1], records=[*chunks[1].records[: rows[-1]], changed])
    made.records.write(replace(base, events={**base.events, 0: chunks}), tmp_path / "archive")
    path = tmp_path / "archive" / "traces" / "0.evt"
    content = path.read_bytes()
    path.write_bytes(content[: content.index(b"\x03\x03\x02\x01", base.chunk_size + 18) + 4][:-1] + b"\x02\x01")
    made.records.write(base, tmp_path / "sound")
    whole = read_events(open_archive(tmp_path / "sound"), "library", workers=1).events
    whole = whole.take(whole.location == 0)
    archive = open_archive(tmp_path / "archive")
    for engine in ("direct", "library"):
        read = read_events(archive, engine, workers=1)
        assert [one.row for one in read.damage.locations] == [0]
        events = read.events.take(read.events.location == 0)
        assert 10 < len(events) < len(whole)
        assert (events.time == whole.time[: len(events)]).all()


@pytest.mark.parametrize("stamped", [False, True])
def test_attributes_at_the_end_of_a_chunk_belong_to_the_first_event_of_the_next(
    made: SimpleNamespace, tmp_path: Path, stamped: bool
) -> None:
    base = made.base()
    (chunk,) = base.events[0]
    rows = [row + 1 for row, one in enumerate(chunk.records) if one.kind == made.records.ATTRIBUTES]
    chunks, last = [], 0
    for begin, end in itertools.pairwise([0, *rows, len(chunk.records)]):
        stamps = [one for one in chunk.records[:begin] if one.kind == made.records.TIMESTAMP][-1:] if stamped else []
        part = [*stamps, *chunk.records[begin:end]]
        first, last = last + 1, last + sum(one.kind > made.records.ATTRIBUTES for one in part)
        chunks.append(replace(chunk, first=first, last=last, records=part))
    made.records.write(replace(base, events={**base.events, 0: chunks}), tmp_path / "archive")
    made.records.write(base, tmp_path / "sound")
    whole = read_events(open_archive(tmp_path / "sound"), "library", workers=1).events
    for engine in ("direct", "library"):
        read = read_events(open_archive(tmp_path / "archive"), engine, workers=1)
        assert not read.damage.damaged
        assert (read.events.offset == whole.offset).all()
        assert (read.events.time == whole.time).all()


@pytest.mark.parametrize(("kind", "most"), [("records", 80), ("contradictions", 50), ("unusual", 50)])
def test_hundreds_in_processes_of_their_own(kind: str, most: int) -> None:
    for commands, count in (("none", most), ("cheap", 15)):
        command = [sys.executable, str(DAMAGE / "fuzz.py"), "--kind", kind, "--commands", commands]
        command += ["--count", str(count), "--first", "9000000", "--seconds", "600"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "same rows, sound" in done.stdout
