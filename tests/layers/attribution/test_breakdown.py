"""Tables of ranks, nodes and files against events counted line by line in what otf2-print prints."""

import re
import shutil
import subprocess
from collections import Counter, defaultdict

import pytest
from iostrata import SelectionError, open_trace
from iostrata.model.codes import IoMode, IoRecord

NAMES = ["ckpt4", "ncckpt4", "nonblocking4", "ncckpt4_perstep", "threads2"]
KINDS = {
    "IO_CREATE_HANDLE": "opens",
    "IO_DESTROY_HANDLE": "closes",
    "IO_DUPLICATE_HANDLE": "duplications",
    "IO_SEEK": "seeks",
    "IO_CHANGE_STATUS_FLAGS": "status_changes",
    "IO_DELETE_FILE": "deletions",
    "IO_ACQUIRE_LOCK": "locks",
    "IO_RELEASE_LOCK": "locks",
    "IO_TRY_LOCK": "locks",
}
MODES = {"READ": "reads", "WRITE": "writes", "FLUSH": "flushes"}
COLUMNS = {*KINDS.values(), *MODES.values()}


def printed(anchor):
    """Count events by (layer, rank), (layer, node) and (layer, file), of all files."""
    text = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True).stdout
    paradigm = dict(re.findall(r'^IO_PARADIGM +(\d+)  Identification: "(.*?)"', text, re.MULTILINE))
    file = dict(re.findall(r'^IO_(?:REGULAR_FILE|DIRECTORY) +(\d+)  Name: "(.*?)" <', text, re.MULTILINE))
    node = re.findall(r'^LOCATION_GROUP +(\d+) .*Type: PROCESS, Parent: "\w+::(.*?)"', text, re.MULTILINE)
    handle = {
        found[1]: (paradigm[found[3]], file.get(found[2]))
        for found in re.finditer(
            r'^IO_HANDLE +(\d+)  Name: .*?, File: (?:UNDEFINED|".*?" <(\d+)>), I/O Paradigm: ".*?" <(\d+)>',
            text,
            re.MULTILINE,
        )
    }
    counts = {by: defaultdict(Counter) for by in ("rank", "node", "file")}
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        if not line.startswith("IO_"):
            continue
        kind, location = line.split()[:2]
        rank = int(location) & 0xFFFFFFFF
        if kind == "IO_DELETE_FILE":
            found = re.search(r'I/O Paradigm: ".*?" <(\d+)>, File: ".*" <(\d+)>', line)
            layer, name = paradigm[found[1]], file[found[2]]
        else:
            layer, name = handle[re.search(r'(?:Old )?Handle: ".*?" <(\d+)>', line)[1]]
        column = KINDS.get(kind)
        if kind == "IO_OPERATION_BEGIN":
            column = MODES[re.search(r"Mode: (\w+)", line)[1]]
        if column:
            counts["rank"][layer, rank][column] += 1
            counts["node"][layer, dict(node)[str(rank)]][column] += 1
            counts["file"][layer, name][column] += 1
    return counts


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_counts_equal_the_printed_events(fixtures, name):
    expected = printed(str(fixtures / name / "traces.otf2"))
    trace = open_trace(fixtures / name, files="all")
    for by, counts in expected.items():
        rows = trace.breakdown(by).to_dict()
        found = {(row["layer"], row[by]): {key: row[key] for key in COLUMNS if row[key]} for row in rows}
        # Calls that leave no event have rows of their own where they took time.
        found = {key: count for key, count in found.items() if count}
        assert found == {key: dict(count) for key, count in counts.items()}


@pytest.mark.parametrize("name", ["ncckpt4", "nonblocking4", "ckpt16"])
@pytest.mark.parametrize("by", ["file", "stream", "filesystem", "rank", "node", "handle", "function"])
def test_sums_equal_the_layers(fixtures, name, by):
    trace = open_trace(fixtures / name)
    rows = trace.breakdown(by).to_dict()
    for layer in trace.layers.values():
        some = [row for row in rows if row["layer"] == layer.name]
        assert sum(row["bytes_read"] for row in some) == layer.statistics("read").bytes
        assert sum(row["bytes_written"] for row in some) == layer.statistics("write").bytes
        assert sum(row["reads"] for row in some) == layer.statistics("read").operations
        assert sum(row["writes"] for row in some) == layer.statistics("write").operations
        metadata = ("opens", "closes", "duplications", "seeks", "status_changes", "deletions", "locks")
        assert sum(row[key] for row in some for key in metadata) == len(layer.metadata_events.time)
        summed = sum(layer.statistics(direction).summed_s for direction in ("read", "write"))
        flushes = layer.operations.take(layer.operations.mode == IoMode.FLUSH)
        summed += float((flushes.end - flushes.begin).sum()) / trace.definitions.clock.ticks_per_second
        assert sum(row["summed_s"] for row in some) == pytest.approx(summed)


def test_inside_and_busy(make_trace):
    handles = [("MPI-IO", "/s/a", -1), ("POSIX", "/s/a", 0), ("POSIX", "/s/b", -1)]
    rows = [
        {"handle": 0, "begin": 10, "end": 50, "moved": 5},
        {"handle": 1, "begin": 20, "end": 40, "moved": 5},
        {"handle": 1, "begin": 30, "end": 45, "moved": 5, "mode": IoMode.READ},
        {"handle": 1, "begin": 60, "end": 70, "moved": 5, "process": 1},
    ]
    events = [
        {"kind": IoRecord.SEEK, "time": 25, "handle": 11},
        {"kind": IoRecord.CREATE_HANDLE, "time": 5, "handle": 11},
        {"kind": IoRecord.CREATE_HANDLE, "time": 26, "handle": 12, "location": 1},
        {"kind": IoRecord.DELETE_FILE, "time": 30, "value": 51, "mode": 3},
    ]
    table = make_trace(handles, rows, events).breakdown("rank")
    by_key = {(row["layer"], row["rank"]): row for row in table.to_dict()}
    posix = by_key["POSIX", 0]
    assert (posix["inside_operations"], posix["inside_metadata"]) == (2, 2)
    assert posix["busy_s"] == pytest.approx(0.25)
    assert posix["summed_s"] == pytest.approx(0.35)
    assert by_key["POSIX", 1]["inside_operations"] == 0
    assert (by_key["POSIX", 1]["opens"], by_key["POSIX", 1]["inside_metadata"]) == (1, 0)
    assert len(table.to_dataframe()) == len(table) == 3


def test_unknown_key_is_refused(make_trace):
    with pytest.raises(SelectionError, match="file, stream, filesystem, rank, node, handle, function"):
        make_trace([("POSIX", "/a", -1)]).breakdown("colour")
