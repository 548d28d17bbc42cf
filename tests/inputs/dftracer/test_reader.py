"""DFTracer's files in both dialects, damaged ones, and the scan against Python's own JSON."""

import gzip
import importlib.util
import json
import re
import string
from pathlib import Path

import iostrata
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.findings import find
from iostrata.inputs.dftracer.lines import read_lines
from iostrata.inputs.dftracer.scan import UNKNOWN
from iostrata.layers.selection.source import open_source

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[2] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)
dftracer_event, dftracer_metadata = made.dftracer_event, made.dftracer_metadata


def test_calls_become_operations_with_their_offsets(small_dftracer):
    source = open_source(small_dftracer)
    definitions, operations = source.definitions, source.operations
    assert operations.mode.tolist() == [0, 1, 1, 2, 0]
    assert operations.begin.tolist() == [one * 10**9 for one in (1, 4, 5, 6, 7)]
    assert operations.bytes_moved.tolist() == [100, 50, 8, 0, 0]
    assert operations.offset.tolist()[:3] == [0, 1000, 64]
    assert definitions.groups.rank.tolist() == [4]
    assert definitions.system_tree.name == ("machine", "node9")
    assert definitions.files.name == ("/data/a.bin",)
    assert definitions.clock.realtime_ns == 1_700_000_000 * 10**9
    trace = iostrata.open_trace(small_dftracer)
    paths = trace.calls.paths
    assert paths.texts("function", paths.keys("function")[paths.operation]) == [
        "read",
        "write",
        "pwrite",
        "fsync",
        "read",
    ]
    read = trace.layers["POSIX"].statistics("read")
    assert (read.operations, read.bytes, read.undefined_bytes_operations) == (2, 100, 1)
    # One opening, one seek, one closing.
    assert sorted(trace.stream.whole.metadata.kind.tolist()) == [69, 70, 72]
    assert not trace.damage.damaged


def test_system_calls_of_datacrumbs_are_posix_with_what_they_returned(tmp_path):
    calls = [
        ("openat", None),
        ("write", 4096),
        ("pread64", 100),
        ("read", None),
        ("write", 2**64 - 28),
        ("fsync", None),
    ]
    lines = [
        {"id": row, "name": name, "cat": "sys", "ph": "X", "ts": 1000 * row, "dur": 5, "pid": 7, "tid": 7}
        | {"args": {"fhash": 12} | ({} if size is None else {"size": size})}
        for row, (name, size) in enumerate(calls)
    ]
    path = tmp_path / "trace.pfw"
    path.write_text("[\n" + "".join(json.dumps(one) + "\n" for one in lines) + "]")
    assert iostrata.open_trace(path).breakdown("file").key == ("file of hash 12, whose name the trace does not tell",)
    named = {"id": 9, "name": "any", "cat": "any", "ph": "M", "args": {"hash": 12, "value": "/scratch/x"}}
    path.write_text(path.read_text().replace("]", json.dumps(named) + "\n]"))
    trace = iostrata.open_trace(path)
    assert trace.breakdown("file").key == ("/scratch/x",)
    layer = trace.layers["POSIX"]
    read, write = layer.statistics("read"), layer.statistics("write")
    assert (read.operations, read.bytes, read.undefined_bytes_operations) == (2, 100, 0)
    # One that failed, which is a number beyond all sizes there, moved nothing.
    assert (write.operations, write.bytes, write.undefined_bytes_operations) == (2, 4096, 0)
    assert layer.flushes == 1


def test_categories_around_transfers_are_layers_above(dftracer_file):
    def call(name, start, length, cat, **told):
        return dftracer_event(name, start, length, cat=cat, hostname="n", **told)

    steps = []
    for step in range(4):
        at = 1000 * step
        for place, size in enumerate((100, 50)):
            steps.append(
                call("pread", at + 120 + 50 * place, 30, "POSIX", ret=size, fname=f"/d/{step}", fd=3, offset=0)
            )
        steps += [
            call("Reader.open", at + 10, 20, "reader"),
            call("Reader.get", at + 100, 200, "reader"),
            call("Loader.next", at, 400, "data_loader"),
            call("Model.compute", at + 400, 500, "ai_framework"),
        ]
    # By another thread, beside computing; in no call.
    steps.append(call("write", 500, 100, "POSIX", ret=7, fname="/d/log", fd=4, tid=99))
    steps.append(call("App.run", 0, 4000, "app"))
    trace = iostrata.open_trace(dftracer_file(steps))
    assert list(trace.layers) == ["data_loader", "reader", "POSIX"]
    reads = {name: layer.statistics("read") for name, layer in trace.layers.items()}
    assert [(one.operations, one.bytes) for one in reads.values()] == [(4, 600), (4, 600), (8, 600)]
    flow = trace.flow("reader", "POSIX", "read")
    assert (flow.amplification, flow.fan_out) == (1.0, 2.0)
    paths = trace.calls.paths
    own = paths.operation[trace.operations.mode == 0]
    assert paths.texts("callpath", own[-1:]) == ["App.run > Loader.next > Reader.get > pread"]
    assert paths.texts("caller", paths.keys("caller")[own[-1:]]) == ["Reader.get (reader)"]
    (note,) = (one for one in trace.definitions.recording.notes if one.startswith("computing"))
    # 240 µs of reads in the thread that computes, 100 µs of the write beside it.
    assert "2 ms in 4 calls: 29 % of the I/O runs beside it in the same process" in note
    assert "DFAnalyzer calls 340 µs of the 340 µs of I/O overlapped" in note


def test_all_dialects_give_the_same(dftracer_file):
    known = {"fname": "/a", "hostname": "n", "fd": 3}
    old = dftracer_file([dftracer_event("read", 100, 5, texts=True, ret="7", count="9", **known)], "old")
    new = dftracer_file(
        [
            dftracer_metadata("FH", "/a", 1),
            dftracer_metadata("HH", "n", 2),
            dftracer_event("read", 100, 5, ret=7, count=9, fd=3, fhash=1, hhash=2),
        ],
        "new",
        packed=False,
    )
    numbered = [
        dftracer_metadata("CM", "time_metric", "NS", ph=4),
        dftracer_metadata("FH", "/a", "a1", ph=4),
        dftracer_metadata("HH", "n", "b2", ph=4),
        dftracer_event("read", 100_000, 5000, ph=1, ret=7, count=9, fhash="a1", hhash="b2"),
    ]
    one = open_source(old)
    for other in (open_source(new), open_source(dftracer_file(numbered, "numbered"))):
        for name in vars(one.operations):
            np.testing.assert_array_equal(getattr(one.operations, name), getattr(other.operations, name))
        assert one.definitions.files.name == other.definitions.files.name == ("/a",)
        assert one.definitions.system_tree.name == other.definitions.system_tree.name


@pytest.mark.parametrize(("unit", "ns"), [("NS", 1), ("US", 1000), ("MS", 10**6), ("SEC", 10**9), ("of none", 1000)])
def test_times_are_of_the_unit_that_a_line_tells(dftracer_file, unit, ns):
    """With times since 1970, of which those in ns have 19 digits."""
    start = 1_795_808_945_000_000_000 // ns
    path = dftracer_file(
        [
            dftracer_metadata("CM", "time_metric", unit, ph=4),
            *(dftracer_event("write", start + step, 3, ph=1, ret=1, fname="/a") for step in (0, 7)),
        ]
    )
    definitions, operations = open_source(path).definitions, open_source(path).operations
    assert definitions.clock.realtime_ns == start * ns
    assert (operations.begin.tolist(), operations.end.tolist()) == ([0, 7 * ns], [3 * ns, 10 * ns])
    (note,) = (one for one in definitions.recording.notes if one.startswith("times are whole")) if ns > 1 else ("",)
    assert note.endswith({1: "", 1000: "microseconds", 10**6: "milliseconds", 10**9: "seconds"}[ns])


def test_where_no_descriptors_are_offsets_follow_by_file_while_it_is_open_once(dftracer_file):
    def call(name, at, **told):
        return dftracer_event(name, at, 1, ph=1, fname="/a", **told)

    path = dftracer_file(
        [
            call("read", 1, ret=5),
            call("open64", 2, flags=0),
            call("read", 3, ret=10),
            call("read", 4, ret=10),
            call("lseek64", 5, ret=100, whence=0, offset=100),
            call("write", 6, ret=7),
            call("write", 7, ret=7),
            call("pwrite64", 8, ret=7, offset=9),
            call("write", 9, ret=7),
            # Nobody knows which of the two is read.
            call("open64", 10, flags=0),
            call("read", 11, ret=3),
            call("close", 12, ret=0),
            call("read", 13, ret=3),
            call("lseek64", 14, ret=50, whence=0, offset=50),
            call("read", 15, ret=3),
            call("close", 16, ret=0),
            call("open64", 17, flags=0o2000),
            call("write", 18, ret=3),
            call("close", 19, ret=0),
        ]
    )
    undefined = np.iinfo(np.uint64).max
    found = [None if one == undefined else int(one) for one in open_source(path).operations.offset.astype(np.uint64)]
    assert found == [None, 0, 10, 100, 107, 9, 114, None, None, 50, None]


def test_sums_over_time_are_no_calls(dftracer_file):
    summed = [
        dftracer_event("write", 10**6, 0, ph=3, ret_sum=50, dft_cnt=5),
        dftracer_event("write", 2 * 10**6, 0, ph="A", ret_sum=50, dft_cnt=5),
    ]
    with pytest.raises(
        iostrata.TraceError, match=r"summed calls up over time \(2 sums\) .* without DFTRACER_ENABLE_AGG"
    ):
        iostrata.open_trace(dftracer_file(summed))
    trace = iostrata.open_trace(
        dftracer_file([*summed, dftracer_event("write", 1, 1, ph=1, ret=9, fname="/a")], "mixed")
    )
    assert trace.layers["POSIX"].statistics("write").bytes == 9
    assert [(one.reason, one.events_expected) for one in trace.damage.locations] == [
        ("sums over time in place of calls", 2)
    ]


def test_calls_without_sizes_and_files_are_told_by_their_times_and_order(dftracer_file):
    """As version 2 writes them by default."""
    lines = [dftracer_event("fork", 0, 9_000_000, ph=1), dftracer_event("wait", 1000, 8_000_000, ph=1)]
    for step in range(12):
        at = 500_000 * step + 10_000 * (step % 3)
        lines += [
            dftracer_event("save", at, 90_000, cat="checkpoint", ph=1),
            dftracer_event("open64", at + 1000, 500, ph=1),
            *(dftracer_event("write", at + 10_000 * place, 5000, ph=1) for place in range(1, 6)),
            dftracer_event("fsync", at + 70_000, 10_000, ph=1),
            dftracer_event("close", at + 85_000, 500, ph=1),
        ]
    trace = iostrata.open_trace(dftracer_file(lines))
    recording = trace.definitions.recording
    assert recording.missing[0] == "sizes and files (DFTRACER_INC_METADATA=1 has them recorded)"
    assert trace.set_aside.operations == 0
    assert list(trace.layers) == ["checkpoint", "POSIX"]
    write = trace.layers["POSIX"].statistics("write")
    assert (write.operations, round(write.busy_s, 9), "bytes" in write.unavailable) == (60, 0.3, True)
    # A call around a flush does more than flush.
    assert [round(trace.layers[name].flush_busy_s, 9) for name in trace.layers] == [0.12, 0.12]
    (loop,) = (one for one in iostrata.find_loops(trace).loops if one.parent is None)
    assert loop.count == 12
    assert len([one for one in find(trace) if one.id == "flush-dominates"]) == 1


def test_of_several_names_of_a_file_the_first_counts_and_one_without_a_hash_is_nobody_s(dftracer_file):
    path = dftracer_file(
        [
            json.dumps(
                {"name": "FH", "cat": "dftracer", "pid": 1, "tid": 1, "ph": "M", "args": {"name": "/of/no/hash"}}
            ),
            dftracer_metadata("FH", "/a", 1),
            dftracer_metadata("FH", "/b", 1),
            dftracer_event("read", 100, 5, ret=7, count=7, fd=3, fhash=1),
            dftracer_event("read", 200, 5, ret=7, count=7, fd=4),
        ],
        "names",
    )
    files = open_source(path).definitions.files.name
    assert "/a" in files
    assert "/b" not in files
    assert "/of/no/hash" not in files


def test_items_are_bytes_times_their_size(dftracer_file):
    path = dftracer_file([dftracer_event("fread", 1, 5, cat="STDIO", ret=3, count=4, size=8, fname="/a")])
    trace = iostrata.open_trace(path)
    assert trace.layers["ISOC"].statistics("read").bytes == 24


def test_offsets_end_with_what_nobody_knows(dftracer_file):
    known = {"fname": "/a", "fd": 3}
    path = dftracer_file(
        [
            dftracer_event("read", 1, 1, ret=5, **known),
            dftracer_event("open", 3, 1, ret=3, flags=0o2001, fname="/a"),
            dftracer_event("write", 5, 1, ret=5, **known),
            dftracer_event("lseek", 7, 1, ret=40, **known),
            dftracer_event("write", 9, 1, ret=5, **known),
            dftracer_event("close", 11, 1, ret=0, **known),
            dftracer_event("write", 13, 1, ret=5, **known),
        ]
    )
    unknown = 2**64 - 1
    assert open_source(path).operations.offset.tolist() == [unknown, unknown, 40, unknown]


def test_a_folder_is_one_run(tmp_path):
    for pid in range(3):
        lines = [
            dftracer_metadata("PR", "rank", str(pid), pid),
            dftracer_event("write", 10 + pid, 5, pid=pid, tid=pid, ret=10, fname="/a"),
        ]
        (tmp_path / f"t-{pid}.pfw.gz").write_bytes(gzip.compress(("[\n" + "\n".join(lines)).encode()))
    (tmp_path / "notes.txt").write_text("nothing of it")
    trace = iostrata.open_trace(tmp_path)
    assert (trace.ranks, trace.layers["POSIX"].statistics("write").ranks) == (3, 3)


def test_hashes_that_another_file_of_the_run_names_are_known(tmp_path):
    """A process forked goes on with those of the one it comes from."""
    first = [dftracer_metadata("FH", f"/{name}", key, pid=1) for name, key in (("a", "h1"), ("b", "h2"), ("c", "h3"))]
    other = [dftracer_metadata("FH", "/other", "h3", pid=3)]
    reads = [dftracer_event("read", 10 * row, 5, pid=2, ret=7, fhash=f"h{row}") for row in range(1, 5)]
    for name, lines in (("a", reads), ("b", first), ("c", other)):
        (tmp_path / f"{name}.pfw").write_text("\n".join(lines))
    files = open_source(tmp_path).definitions.files.name
    unknown = [f"file of hash h{row}, whose name the trace does not tell" for row in (3, 4)]
    assert sorted(files) == sorted(["/a", "/b", *unknown])


def test_files_of_several_runs_in_a_folder_are_not_one(tmp_path):
    second, base = 10**6, 1_700_000_000 * 10**6
    starts = {"a-1": 0, "a-2": 1, "late": 50, "b-1": 86_400, "b-2": 86_401}
    for name, start in starts.items():
        rows = [dftracer_event("write", base + (start + row) * second, 5, ret=1, fname="/a") for row in range(9)]
        (tmp_path / f"{name}.pfw").write_text("[\n" + "\n".join(rows))
    with pytest.raises(iostrata.TraceError, match=r"of 2 runs .*\(a-1.pfw and 2 more; b-1.pfw and 1 more\)"):
        iostrata.open_trace(tmp_path)
    for name in ("b-1", "b-2"):
        (tmp_path / f"{name}.pfw").unlink()
    assert iostrata.open_trace(tmp_path).layers["POSIX"].statistics("write").operations == 27


@pytest.mark.parametrize(("apart", "count"), [(60, 2), (61, 2), (70, 4), (70, 5)])
def test_runs_lie_apart_from_a_minute_on_and_four_are_named(tmp_path, apart, count):
    """Where they are as short as a call."""
    for number in range(count):
        start = 1_700_000_000 * 10**6 + number * (apart * 10**6 + 5)
        (tmp_path / f"run{number}.pfw").write_text(dftracer_event("read", start, 5, ret=7, fname="/a") + "\n")
    if apart == 60:
        assert iostrata.open_trace(tmp_path).layers["POSIX"].statistics("read").bytes == 14
        return
    told = "; ".join([f"run{number}.pfw" for number in range(min(count, 4))] + ["…"] * (count > 4))
    with pytest.raises(iostrata.TraceError, match=re.escape(f"of {count} runs that lie far apart in time ({told});")):
        iostrata.open_trace(tmp_path)


def test_a_last_line_may_end_without_a_new_one_and_a_unit_be_named_by_a_call(tmp_path):
    path = tmp_path / "trace.pfw"
    calls = [dftracer_event(name, 10 * row, 5, ret=7, fname="/a") for row, name in enumerate(("time_metric", "read"))]
    path.write_text("[\n" + "\n".join(calls))
    trace = iostrata.open_trace(path)
    assert not trace.damage.damaged
    assert trace.layers["POSIX"].statistics("read").bytes == 7
    assert trace.layers["POSIX"].statistics("read").busy_s == pytest.approx(5e-6)


def test_a_cut_file_gives_what_is_there(small_dftracer):
    lines = [dftracer_event("write", place, 1, ret=1, fname=f"/{place % 997}") for place in range(5000)]
    data = gzip.compress(("[\n" + "\n".join(lines)).encode())
    small_dftracer.write_bytes(data[: len(data) // 2])
    trace = iostrata.open_trace(small_dftracer)
    assert 0 < len(trace.operations) < 5000
    assert any("cut" in one.reason for one in trace.damage.locations)


def test_lines_that_are_none_are_counted(dftracer_file):
    sound = dftracer_event("write", 1, 1, ret=1, fname="/a")
    broken = ["{", '{"id":', "word", '{"a":1} x', '{"name":"x}', '{"args":{"ret":1}', '["x"']
    source = open_source(dftracer_file([sound, *broken, sound]))
    assert len(source.operations) == 2
    assert [one.events_expected for one in source.damage] == [len(broken)]


def test_files_of_several_members(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(
        b"".join(
            gzip.compress((text + "\n").encode())
            for text in ("[", *(dftracer_event("write", place, 1, ret=1, fname="/a") for place in range(9)))
        )
    )
    assert len(open_source(path).operations) == 9


values = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.text(string.ascii_letters + '/"\\{}[]:, é', max_size=30),
    st.booleans(),
    st.none(),
    st.lists(st.one_of(st.integers(), st.text('"]}\\', max_size=4)), max_size=3),
)
events = st.fixed_dictionaries(
    {"name": st.text(string.printable, max_size=20), "ph": st.just("X"), "ts": st.integers(0, 10**17)},
    optional={
        "pid": st.one_of(st.integers(0, 10**6), st.integers(0, 10**6).map(str)),
        "other": st.one_of(values, st.dictionaries(st.text(max_size=5), values, max_size=3)),
        "args": st.fixed_dictionaries(
            {}, optional={"ret": st.integers(-5, 2**63 - 1), "fname": st.text(max_size=40), "zzz": values, "fd": values}
        ),
        "tid": st.integers(0, 99),
    },
)


def in_ns(microseconds: int) -> int:
    """What is far beyond any time is cut."""
    return min(microseconds, (2**62 - 2) // 1000) * 1000


@given(st.lists(events, min_size=1, max_size=20), st.booleans())
def test_the_scan_reads_what_python_reads(tmp_path, given_events, ascii_only):
    path = tmp_path / "t"
    text = "[\n" + "\n".join(json.dumps(one, ensure_ascii=ascii_only) for one in given_events) + "\n]"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    lines = read_lines(path)
    assert lines.unreadable == 0
    shown = (*lines.names, None)
    for row, event in enumerate(given_events):
        arguments = event.get("args", {})
        assert lines.columns["ts"][row] == in_ns(event["ts"])
        assert lines.columns["pid"][row] == int(event.get("pid", UNKNOWN))
        assert lines.columns["ret"][row] == arguments.get("ret", UNKNOWN)
        for name, expected in (("name", event["name"]), ("fname", arguments.get("fname"))):
            found = shown[lines.columns[name][row]]
            expected = (expected or "").encode("utf-8", "backslashreplace").decode() or None
            assert found == expected


calls = st.tuples(
    st.sampled_from(["read", "write", "open64", "a name of its own"]),
    st.integers(0, 10**7) | st.integers(0, 10**17),
    st.integers(-(10**9), 10**9),
    st.sampled_from(["/a", "/b", "/a/long/name/of/a/file", '/with "quotes"', "/é", ""]),
    st.sampled_from([None, True, 1.5, 12345, "", "x", {"ret": 5}, [1, "]"]]),
    st.integers(0, 5),
)


@given(st.lists(calls, min_size=1, max_size=60), st.booleans(), st.sampled_from([",:", ", :", ",: ", ", : "]))
def test_lines_that_are_alike_are_not_mistaken_for_each_other(tmp_path, rows, as_text, marks):
    """Both dialects, with entries that come and go and change their order and kind from line to line."""
    shown = str if as_text else lambda number: number
    written = []
    for name, start, moved, file, other, order in rows:
        arguments = {"ret": shown(moved), "zz": other, "fname": file, "fd": shown(moved % 9)}
        arguments = dict(sorted(arguments.items(), key=lambda one: one[0][:: 1 if order % 2 else -1])[: 2 + order % 3])
        event = {"id": shown(order), "name": name, "pid": shown(start % 10**7), "ts": shown(start), "args": arguments}
        if order == 4:
            event["args"], event["pid"] = event.pop("pid"), shown(3)
        written.append({**event, "ph": "X"})
    separators = marks[: marks.index(":")], marks[marks.index(":") :]
    text = "\n".join(json.dumps(one, separators=separators, ensure_ascii=False) for one in written)
    (tmp_path / "t").write_text(f"{text}\n{text}")
    lines = read_lines(tmp_path / "t")
    assert lines.unreadable == 0
    names = (*lines.names, None)
    for row, event in enumerate(written * 2):
        arguments = event["args"] if isinstance(event["args"], dict) else {}
        for column, source in (("ts", event), ("pid", event), ("ret", arguments), ("fd", arguments)):
            told = int(source.get(column, UNKNOWN))
            assert lines.columns[column][row] == (in_ns(told) if column == "ts" and column in source else told)
        assert names[lines.columns["fname"][row]] == (arguments.get("fname") or None)
        assert names[lines.columns["name"][row]] == event["name"]


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_counted(tmp_path, data):
    path = tmp_path / "t"
    path.write_bytes(b'{"name":"a","cat":"POSIX","ts":1}\n' + data)
    lines = read_lines(path)
    assert len(lines.columns["ts"]) + lines.unreadable <= 2 + data.count(b"\n")


def test_many_names_make_room(tmp_path):
    path = tmp_path / "t"
    path.write_text("\n".join(dftracer_event(f"f{row}", row, 1, fname=f"/{row}") for row in range(20000)))
    lines = read_lines(path)
    assert [lines.names[one] for one in lines.columns["fname"]] == [f"/{row}" for row in range(20000)]


def test_pieces_of_a_file_are_its_lines(tmp_path, monkeypatch):
    """However small they are, also where a line is longer than a piece, in text and compressed."""
    text = "[\n" + "\n".join(
        dftracer_event("write", row, 1, fname="/" + "x" * (row * 37 % 900), ret=row) for row in range(300)
    )
    (tmp_path / "plain").write_text(text)
    (tmp_path / "packed").write_bytes(gzip.compress(text.encode()))
    whole = read_lines(tmp_path / "plain")
    assert whole.columns["ret"].tolist() == list(range(300))
    for piece in (1, 300, 4000):
        monkeypatch.setattr("iostrata.inputs.dftracer.lines._PIECE", piece)
        monkeypatch.setattr("iostrata.inputs.inflating._READ", 128)
        for name in ("plain", "packed"):
            found = read_lines(tmp_path / name)
            for column, values in whole.columns.items():
                assert found.columns[column].tolist() == values.tolist()
            assert [found.names[one] for one in found.columns["fname"]] == [
                whole.names[one] for one in whole.columns["fname"]
            ]
    monkeypatch.setattr("iostrata.inputs.dftracer.lines._PIECE", 100)
    monkeypatch.setattr("iostrata.inputs.dftracer.lines._LONGEST_LINE", 200)
    assert read_lines(tmp_path / "plain").fault == "a line is too long"


def test_a_key_that_begins_like_another_is_another(tmp_path):
    """Keys are compared with those at the same place of the line before."""
    rows = [
        f'{{"name":"n","cat":"POSIX",{key}:{number},"pid":1,"ph":"X","args":{{}}}}'
        for number, key in enumerate(['"ts"', '"tsx"', '"t"', '"ts"', '"t\\u0073"', '"dur"', '"ts "', '"ts"'])
    ]
    (tmp_path / "t").write_text("\n".join(rows))
    found = read_lines(tmp_path / "t").columns["ts"].tolist()
    assert found == [0, UNKNOWN, UNKNOWN, 3000, UNKNOWN, UNKNOWN, UNKNOWN, 7000]


def test_nothing_at_all(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(gzip.compress(b'[\n{"id":1,"name":"x","cat":"POSIX","ph":"X","ts":')[:40])
    with pytest.raises(iostrata.TraceError):
        iostrata.open_trace(path)


def test_events_without_a_time_are_counted(dftracer_file):
    sound = dftracer_event("write", 1, 1, ret=1, fname="/a")
    untimed = {name: value for name, value in json.loads(sound.rstrip(",")).items() if name != "ts"}
    source = open_source(dftracer_file([sound, json.dumps(untimed), json.dumps({**untimed, "ts": 10**25}), sound]))
    assert len(source.operations) == 2
    assert [one.events_expected for one in source.damage] == [2]


@pytest.mark.parametrize("form", ['{{"traceEvents":[{0},{0}]}}', "[{0},{0}]"])
def test_several_events_in_a_line_are_refused_not_lost(tmp_path, form):
    path = tmp_path / "t"
    path.write_text(form.format(dftracer_event("write", 1, 1, ret=1, fname="/a")))
    with pytest.raises(iostrata.TraceError, match="a line of its own"):
        iostrata.open_trace(path)


def test_a_file_as_datacrumbs_writes_it(tmp_path):
    """Made as its ChromeWriter prints lines; no file of a real run was at hand.

    Calls without arguments have no ``args``, times are whole microseconds, and the file is compressed.
    """
    form = '{{"id":{},"name":"{}","cat":"{}","ph":"{}","ts":{},"dur":{},"pid":{},"tid":{}'
    lines, number = [], 0
    for step in range(3):
        at = 10_000 * step
        for name, category, begin, length, told in (
            ("MPI_File_write_at", "mpi", at, 900, None),
            ("openat", "sys", at + 10, 20, {"fhash": 5}),
            ("pwrite64", "sys", at + 100, 300, {"fhash": 5, "size": 4096}),
            ("pwrite64", "sys", at + 500, 300, {"fhash": 5, "size": 4096}),
            ("close", "sys", at + 850, 5, None),
            ("vfs_write", "kernel", at + 110, 200, None),
        ):
            number += 1
            text = form.format(number, name, category, "X", begin, length, 7, 7)
            lines.append(text + (f',"args":{json.dumps(told)}' if told else "") + "}")
    lines.append('{"id":19,"name":"file","cat":"hash","ph":"M","args":{"hash":5,"value":"/scratch/out"}}')
    path = tmp_path / "trace.pfw.gz"
    path.write_bytes(gzip.compress(("[\n" + "\n".join(lines) + "\n]").encode()))
    trace = iostrata.open_trace(path)
    assert not trace.damage.damaged
    # What is called within a system call is no layer.
    assert list(trace.layers) == ["mpi", "POSIX"]
    written = trace.layers["POSIX"].statistics("write")
    assert (written.operations, written.bytes, written.undefined_bytes_operations) == (6, 6 * 4096, 0)
    assert {*trace.breakdown("file").key} == {"/scratch/out"}
    paths = trace.calls.paths
    found = set(paths.texts("callpath", paths.operation[trace.operations.mode == 1]))
    assert found == {"MPI_File_write_at", "MPI_File_write_at > pwrite64"}


def test_a_hash_of_two_files_is_damage(dftracer_file):
    lines = [made.dftracer_metadata("FH", name, "h1") for name in ("/a", "/a", "/b")]
    lines.append(dftracer_event("write", 0, 10, ret=5, fhash="h1"))
    trace = iostrata.open_trace(dftracer_file(lines))
    (lost,) = trace.damage.locations
    assert lost.reason == "1 transfer on a file whose hash another file has, too: counted for the first one"
    assert trace.breakdown("file").key == ("/a",)
    # Of what moves nothing it does not matter.
    lines[-1] = dftracer_event("close", 0, 10, ret=0, fhash="h1")
    assert not iostrata.open_trace(
        dftracer_file([*lines, dftracer_event("write", 9, 1, ret=5, fname="/c")])
    ).damage.damaged
