"""Layers and handles of whole traces against a count by the official reader, one event after the other."""

from collections import defaultdict, deque

import pytest
from iostrata import open_trace
from iostrata.model.codes import IoMode


def counted(anchor):
    """Count operations and bytes by (layer, file, mode) with the official reader, one event after the other."""
    import otf2

    counts, pending = defaultdict(lambda: [0, 0]), defaultdict(deque)
    with otf2.reader.open(str(anchor)) as archive:
        for location, event in archive.events:
            kind = type(event).__name__
            if kind not in ("IoOperationBegin", "IoOperationComplete", "IoOperationCancelled"):
                continue
            queue = pending[location.group, event.handle, event.matching_id]
            if kind == "IoOperationBegin":
                file = event.handle.file.name if event.handle.file is not None else None
                entry = counts[event.handle.io_paradigm.identification, file, event.mode.value]
                entry[0] += 1
                queue.append(entry)
            elif queue:
                entry = queue.popleft()
                if kind == "IoOperationComplete" and event.bytes_result != 2**64 - 1:
                    entry[1] += event.bytes_result
    return counts


@pytest.mark.parametrize(
    "name", ["nonblocking4", "nonblocking4_nodupfd", "threads2", "ncckpt4_romio", "ckpt8_unnested", "serial1"]
)
def test_each_file_equals_the_count_by_the_official_reader(fixtures, name):
    opened = open_trace(fixtures / name)
    counts = counted(fixtures / name / "traces.otf2")
    whole = opened.select(files="all")
    for layer in whole.layers:
        for direction, mode in (("read", IoMode.READ), ("write", IoMode.WRITE)):
            entries = [entry for key, entry in counts.items() if key[0] == layer and key[2] == mode]
            statistics = whole.layers[layer].statistics(direction)
            assert statistics.operations == sum(operations for operations, _ in entries)
            assert statistics.bytes == sum(moved for _, moved in entries)
        flushes = [entry[0] for key, entry in counts.items() if key[0] == layer and key[2] == IoMode.FLUSH]
        assert whole.layers[layer].flushes == sum(flushes)
    by_file = defaultdict(int)
    for row in opened.handles.to_dict():
        by_file[row["layer"], row["file"], IoMode.READ] += row["bytes_read"]
        by_file[row["layer"], row["file"], IoMode.WRITE] += row["bytes_written"]
    assert {key: moved for key, moved in by_file.items() if moved} == {
        key: moved for key, (_, moved) in counts.items() if moved
    }
