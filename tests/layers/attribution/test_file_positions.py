"""Offsets that follow from opens, seeks and transfers, against the operating system that does the same."""

import copy
import os
from collections import Counter

import numpy as np
import otf2
import pytest
from iostrata import open_trace
from iostrata.layers.attribution import stream
from iostrata.layers.attribution.breakdown import ACCESS
from iostrata.layers.attribution.file_positions import FilePositions
from iostrata.model.codes import UNDEFINED_UINT64
from iostrata.model.operations import followed_places
from otf2.enums import (
    IoAccessMode,
    IoCreationFlag,
    IoHandleFlag,
    IoOperationFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    IoSeekOption,
    IoStatusFlag,
    LocationGroupType,
)

UNKNOWN = None


class Recorded:
    """Does what a program asks of files, and writes an archive that tells it without offsets."""

    def __init__(self, folder, processes=2):
        self.folder = folder
        self.archive = otf2.writer.Writer(str(folder / "made"), "traces", timer_resolution=10**9)
        definitions = self.archive.definitions
        machine = definitions.system_tree_node("m", class_name="machine")
        posix = definitions.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        groups = [
            definitions.location_group(f"MPI Rank {rank}", LocationGroupType.PROCESS, machine)
            for rank in range(processes)
        ]
        self.threads = [self.archive.event_writer("thread", group=group) for group in groups]
        files = [definitions.io_regular_file(str(folder / name), machine) for name in "ab"]
        self.handles = [
            definitions.io_handle("", file, posix, IoHandleFlag.NONE, None, None) for file in (*files, files[0])
        ]
        self.time = 0
        self.open, self.expected, self.moved = {}, [], []

    def __enter__(self):
        for thread in self.threads:
            thread.enter(0, self.archive.definitions.region("main"))
        return self

    def __exit__(self, *_):
        self.archive.close()
        for descriptor, _ in self.open.values():
            os.close(descriptor)

    def _now(self):
        self.time += 10
        return self.time

    def opens(self, process, file, append=False):
        key = process, file
        if key in self.open:
            os.close(self.open.pop(key)[0])
            self.threads[process].io_destroy_handle(self._now(), self.handles[file])
        path = self.folder / f"{process}{'ab'[file]}"
        self.open[key] = os.open(path, os.O_RDWR | os.O_CREAT | (os.O_APPEND if append else 0)), append
        flag = IoStatusFlag.APPEND if append else IoStatusFlag.NONE
        self.threads[process].io_create_handle(
            self._now(), self.handles[file], IoAccessMode.READ_WRITE, IoCreationFlag.CREATE, flag
        )

    def seeks(self, process, file, by, whence):
        descriptor, _ = self.open[process, file]
        try:
            went = os.lseek(descriptor, by, whence)
        except OSError:
            return
        how = (IoSeekOption.FROM_START, IoSeekOption.FROM_CURRENT, IoSeekOption.FROM_END)[whence]
        self.threads[process].io_seek(self._now(), self.handles[file], by, how, went)

    def moves(self, process, file, mode, size, told=True):
        descriptor, append = self.open[process, file]
        at = os.lseek(descriptor, 0, os.SEEK_CUR)
        moved = os.write(descriptor, bytes(size)) if mode is IoOperationMode.WRITE else len(os.read(descriptor, size))
        begin = self._now()
        self.threads[process].io_operation_begin(
            begin, self.handles[file], mode, IoOperationFlag.NONE, size, begin, attributes={}
        )
        result = moved if told else UNDEFINED_UINT64
        self.threads[process].io_operation_complete(self._now(), self.handles[file], result, begin)
        self.expected.append(UNKNOWN if append and mode is IoOperationMode.WRITE else at)
        self.moved.append((process, file, mode is IoOperationMode.WRITE, moved))


def offsets(folder):
    trace = open_trace(folder / "made")
    positions, found = FilePositions(), {}
    for block in trace.stream:
        positions.finish(np.unique(block.operations.process).astype(np.int64))
        found |= dict(zip(block.operations.begin.tolist(), positions.offsets(block).tolist(), strict=True))
    return [None if found[begin] == UNDEFINED_UINT64 else found[begin] for begin in sorted(found)]


@pytest.mark.parametrize("seed", range(12))
def test_positions_are_those_of_the_operating_system(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(stream, "AT_ONCE", 7)
    random = np.random.default_rng(seed)
    lost = {}
    with Recorded(tmp_path) as run:
        for _ in range(120):
            process, file = int(random.integers(2)), int(random.integers(2))
            deed = random.random()
            if (process, file) not in run.open or deed < 0.05:
                run.opens(process, file, append=bool(seed % 3 == 0 and random.random() < 0.3))
                lost[process, file] = False
            elif deed < 0.25:
                before = run.time
                run.seeks(process, file, int(random.integers(-50, 200)), int(random.integers(3)))
                lost[process, file] &= run.time == before
            else:
                mode = IoOperationMode.WRITE if random.random() < 0.5 else IoOperationMode.READ
                told = random.random() > 0.05
                run.moves(process, file, mode, int(random.integers(1, 100)), told)
                if lost[process, file]:
                    run.expected[-1] = UNKNOWN
                lost[process, file] |= not told or run.expected[-1] is UNKNOWN
    found = offsets(tmp_path)
    known = [(one, true) for one, true in zip(found, run.expected, strict=True) if one is not None]
    assert len(known) > 20
    assert all(one == true for one, true in known)
    if seed % 3:
        # Where no handle has ever appended, all that can be known is.
        assert found == run.expected


def test_a_descriptor_that_was_duplicated_is_not_followed_until_it_seeks(tmp_path):
    with Recorded(tmp_path) as run:
        run.opens(0, 0)
        run.moves(0, 0, IoOperationMode.WRITE, 10)
        run.threads[0].io_duplicate_handle(run._now(), run.handles[0], run.handles[2], IoStatusFlag.NONE)
        run.moves(0, 0, IoOperationMode.WRITE, 10)
        run.seeks(0, 0, 5, os.SEEK_SET)
        run.moves(0, 0, IoOperationMode.WRITE, 10)
    assert offsets(tmp_path) == [0, None, 5]


def test_a_duplicate_on_a_handle_that_is_not_defined_is_followed_by_nobody(tmp_path):
    with Recorded(tmp_path) as run:
        run.opens(0, 0)
        run.moves(0, 0, IoOperationMode.WRITE, 10)
        nowhere = copy.copy(run.handles[2])
        nowhere._ref = 999
        run.threads[0].io_duplicate_handle(run._now(), run.handles[0], nowhere, IoStatusFlag.NONE)
        run.seeks(0, 0, 5, os.SEEK_SET)
        run.moves(0, 0, IoOperationMode.WRITE, 10)
    assert offsets(tmp_path) == [0, 5]


def test_what_cannot_be_summed_is_unknown():
    huge = 2**62
    key, sets = np.zeros(4, np.int64), np.array([True, False, False, False])
    found = followed_places(key, sets, np.array([huge, -1, -1, -1]), np.array([0, huge, huge, huge]))
    assert found[1] == huge
    assert (found[2:] < huge).all()
    assert followed_places(*(np.zeros(0, np.int64) for _ in range(4))).size == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_access_pattern_is_told_by_layer_file_and_rank(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(stream, "AT_ONCE", 7)
    random = np.random.default_rng(seed)
    with Recorded(tmp_path) as run:
        for _ in range(150):
            process, file = int(random.integers(2)), int(random.integers(2))
            if (process, file) not in run.open:
                run.opens(process, file)
            for _ in range(int(random.integers(1, 5))):
                if seed % 2 or random.random() < 0.4:
                    run.seeks(process, file, 10, os.SEEK_CUR)
                if random.random() < 0.2:
                    run.seeks(process, file, int(random.integers(300)), os.SEEK_SET)
                run.moves(process, file, [IoOperationMode.READ, IoOperationMode.WRITE][process], 10)
    expected, before = Counter(), {}
    for at, (process, file, writes, moved) in zip(run.expected, run.moved, strict=True):
        stream_of = process, file
        end, gap = before.get(stream_of, (at, None))
        what = "consecutive" if at == end else "strided" if at - end == gap else "random"
        expected[process, "ab"[file], f"{what}_{'writes' if writes else 'reads'}"] += 1
        before[stream_of] = at + moved, (at - end if stream_of in before else None)
    assert len({what for *_, what in expected}) == 6
    trace = open_trace(tmp_path / "made")
    for by, place in (("rank", 0), ("file", 1), ("layer", None)):
        rows = {row.get(by) if place is not None else None: row for row in trace.breakdown(by).to_dict()}
        found = Counter()
        for key, row in rows.items():
            name = key[-1] if by == "file" else key
            found += Counter({(name, what): row[what] for what in ACCESS})
        summed = Counter()
        for key, often in expected.items():
            summed[None if place is None else key[place], key[2]] += often
        assert found == summed
    (written,) = (one for one in trace.relations.accesses if one.direction == "write")
    assert (written.consecutive, written.strided, written.random) == tuple(
        sum(often for (*_, what), often in expected.items() if what == f"{kind}_writes")
        for kind in ("consecutive", "strided", "random")
    )
