"""Archives with phases and periods as markers: a faithful copy that the OTF2 tools read."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from iostrata import OutputError, TraceError, find_loops, open_trace, write_annotated
from iostrata.analysis.comparison.iterations import loops_of
from iostrata.analysis.comparison.layer_periods import chosen_layers, layer_periods

FIXTURES = Path(__file__).parents[3] / "fixtures"


def printed(*arguments: object) -> str:
    return subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def trace():
    return open_trace(FIXTURES / "ncckpt4")


@pytest.fixture(scope="module")
def written(trace, tmp_path_factory):
    return write_annotated(trace, tmp_path_factory.mktemp("annotated") / "seen.otf2")


def test_the_copy_is_the_archive(written):
    folder = written.path.parent
    assert sorted(path.name for path in folder.iterdir()) == ["seen", "seen.def", "seen.marker", "seen.otf2"]
    for source in (FIXTURES / "ncckpt4" / "traces").iterdir():
        assert (folder / "seen" / source.name).read_bytes() == source.read_bytes()
    assert (folder / "seen.otf2").read_bytes() == (FIXTURES / "ncckpt4" / "traces.otf2").read_bytes()
    assert written.bytes == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_otf2_print_reads_it_as_it_read_the_archive(written):
    lines = printed("otf2-print", written.path).splitlines()
    assert lines[2:] == printed("otf2-print", FIXTURES / "ncckpt4" / "traces.otf2").splitlines()[2:]
    assert printed("otf2-print", "--silent", written.path)


@pytest.mark.skipif(shutil.which("otf2-marker") is None, reason="otf2-marker is not installed")
def test_the_markers_are_the_phases_and_periods(written, trace):
    text = printed("otf2-marker", written.path)
    start = trace.definitions.clock.start
    total = 0
    for period in layer_periods(chosen_layers(trace), loops=loops_of(trace)):
        name, result = f"{period.layer} {period.direction}", period.result
        blocks = text.split("MARKER_DEF")
        for phases in (block for block in blocks if f'Category: "{name} phase"' in block):
            found = [(int(a) - start, int(b)) for a, b in re.findall(r"Time: (\d+), Duration (\d+)", phases)]
            expected = [(round(one.start * 1e9), round(one.end * 1e9)) for one in result.phases]
            assert [(time, time + length) for time, length in found] == expected
            total += len(found)
        held = [block for block in blocks if f'Category: "{name} period"' in block]
        assert len(held) == result.periodic
        for block in held:
            assert len(re.findall("Time:", block)) == max(1, len(result.regimes))
            assert f"confidence {result.confidence:.2f}" in block
            found = [(int(a) - start, int(b)) for a, b in re.findall(r"Time: (\d+), Duration (\d+)", block)]
            stretches = [(round(one.start * 1e9), round(one.end * 1e9)) for one in result.regimes]
            assert [(time, time + length) for time, length in found] == stretches
            total += max(1, len(result.regimes))
    for loop in find_loops(trace).outermost:
        (block,) = (block for block in blocks if f'Category: "loop {loop.id}"' in block)
        found = [(int(a) - start, int(b)) for a, b in re.findall(r"Time: (\d+), Duration (\d+)", block)]
        bounds = [(round(one.begin_s * 1e9), round(one.end_s * 1e9)) for one in loop.iterations]
        assert [(time, time + length) for time, length in found] == bounds
        assert re.search(rf"iteration 3 of {loop.count} × \((collective )?write", block)
        total += loop.count
    assert written.markers == total > 200


def test_iostrata_reads_the_copy(written, trace):
    again = open_trace(written.path)
    for name, layer in trace.layers.items():
        assert again.layers[name].statistics("write") == layer.statistics("write")


def test_what_is_there_is_not_touched(trace, tmp_path):
    (tmp_path / "old.def").write_text("mine")
    with pytest.raises(OutputError, match=r"old\.def.*is there already"):
        write_annotated(trace, tmp_path / "old.otf2")
    assert [path.name for path in tmp_path.iterdir()] == ["old.def"]
    with pytest.raises(OutputError, match="there already"):
        write_annotated(trace, trace.path)


def test_markers_of_others_are_not_lost(written, tmp_path):
    with pytest.raises(TraceError, match="has markers already"):
        write_annotated(open_trace(written.path), tmp_path / "twice.otf2")
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_nothing(trace, tmp_path):
    with pytest.raises(OutputError):
        write_annotated(trace, tmp_path / "missing" / "x.otf2")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def archive(tmp_path):
    """Return a copy of a small archive."""
    return Path(shutil.copytree(FIXTURES / "serial1", tmp_path / "archive"))


@pytest.mark.parametrize("name", ["X.OTF2", ".otf2", "x"])
def test_a_name_that_no_anchor_has(trace, tmp_path, name):
    with pytest.raises(OutputError, match="an anchor is called NAME"):
        write_annotated(trace, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_only_files_that_the_definitions_name_are_copied(archive, tmp_path):
    for name in ("1.evt", "other.def"):
        (archive / "traces" / name).write_bytes(b"something else")
    written = write_annotated(open_trace(archive), tmp_path / "x.otf2")
    assert {path.name for path in written.path.with_suffix("").iterdir()} == {"0.def", "0.evt"}


def test_a_folder_that_cannot_be_listed(archive, tmp_path, monkeypatch):
    trace = open_trace(archive)
    scandir = os.scandir

    def refuse(path="."):
        if str(path) == str(archive / "traces"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr("os.scandir", refuse)
    written = write_annotated(trace, tmp_path / "x.otf2")
    assert {path.name for path in written.path.with_suffix("").iterdir()} == {"0.def", "0.evt"}


@pytest.mark.parametrize("name", ["traces/0.evt", "traces/0.def", "traces.def", "traces.otf2", "traces"])
def test_links_are_not_followed(archive, tmp_path, name):
    (archive / name).rename(tmp_path / "elsewhere")
    (archive / name).symlink_to(tmp_path / "elsewhere")
    trace = open_trace(archive)
    (tmp_path / "out").mkdir()
    with pytest.raises(TraceError, match=rf"cannot read .*{name} to copy it: .*(link|not a regular file)"):
        write_annotated(trace, tmp_path / "out" / "x.otf2")
    assert not list((tmp_path / "out").iterdir())


def test_a_file_that_is_gone_or_cannot_be_read_is_named(archive, tmp_path):
    trace = open_trace(archive)
    (tmp_path / "out").mkdir()
    definitions = archive / "traces" / "0.def"
    definitions.unlink()
    definitions.mkdir()
    with pytest.raises(TraceError, match=r"cannot read .*0\.def to copy it: not a regular file"):
        write_annotated(trace, tmp_path / "out" / "x.otf2")
    (archive / "traces" / "0.evt").unlink()
    with pytest.raises(
        TraceError, match=r"cannot read .*0\.evt to copy it: no such file or directory; convert with --rewrite"
    ):
        write_annotated(trace, tmp_path / "out" / "x.otf2")
    assert not list((tmp_path / "out").iterdir())


def test_another_archive_in_its_place_is_not_copied(archive, tmp_path):
    trace = open_trace(archive)
    shutil.copy(FIXTURES / "ncckpt4" / "traces.def", archive / "traces.def")
    with pytest.raises(TraceError):
        write_annotated(trace, tmp_path / "x.otf2")
    assert [path.name for path in tmp_path.iterdir()] == ["archive"]


def test_what_is_cut_meanwhile_is_not_copied(archive, tmp_path, monkeypatch):
    read = open_trace(archive)
    (events, *_) = sorted((archive / "traces").glob("*.evt"))

    def cut(*arguments, **more):
        os.truncate(events, events.stat().st_size // 2)
        return layer_periods(*arguments, **more)

    monkeypatch.setattr("iostrata.export.timeline.otf2_markers.layer_periods", cut)
    with pytest.raises(TraceError, match="has changed since it was opened"):
        write_annotated(read, tmp_path / "copy.otf2")
    assert not list(tmp_path.glob("*copy*")) + list(tmp_path.glob(".iostrata*"))


def test_holes_stay_holes(archive, tmp_path):
    os.truncate(archive / "traces" / "0.evt", 2**26)
    written = write_annotated(open_trace(archive), tmp_path / "x.otf2")
    copy = written.path.with_suffix("") / "0.evt"
    assert copy.read_bytes() == (archive / "traces" / "0.evt").read_bytes()
    assert copy.stat().st_blocks * 512 < 2**24
