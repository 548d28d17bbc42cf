"""Finding and reading anchors, and the one line said about each bad input."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from iostrata import TraceError, UnsupportedTraceError
from iostrata.otf2io.files.anchor import find_anchor, read_anchor


def test_anchor_says_what_the_library_says(sound_name: str, fixtures: Path) -> None:
    import _otf2

    anchor = read_anchor(fixtures / sound_name)
    reader = _otf2.Reader_Open(str(anchor.path))
    try:
        assert _otf2.Reader_GetNumberOfLocations(reader) == anchor.locations
        assert _otf2.Reader_GetNumberOfGlobalDefinitions(reader) == anchor.global_definitions
        assert tuple(_otf2.Reader_GetChunkSize(reader)) == (anchor.event_chunk, anchor.definition_chunk)
        assert tuple(_otf2.Reader_GetVersion(reader)) == anchor.version
    finally:
        _otf2.Reader_Close(reader)
    assert anchor.little_endian
    assert (anchor.trace_format, anchor.substrate, anchor.compression) == (2, 1, 1)
    assert anchor.base == fixtures / sound_name / "traces"


def test_folder_and_file_mean_the_same(fixtures: Path) -> None:
    assert find_anchor(fixtures / "serial1") == find_anchor(str(fixtures / "serial1" / "traces.otf2"))


def one_line(error: pytest.ExceptionInfo[TraceError], *parts: str) -> None:
    message = str(error.value)
    assert "\n" not in message
    assert len(message) > 40
    for part in parts:
        assert part in message


def test_missing_path(tmp_path: Path) -> None:
    with pytest.raises(TraceError) as error:
        read_anchor(tmp_path / "nowhere.otf2")
    one_line(error, "nowhere.otf2", "no such file", "give")


def test_folder_without_an_anchor(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("ckpt4_linktime")
    (folder / "traces.otf2").unlink()
    with pytest.raises(TraceError) as error:
        read_anchor(folder)
    one_line(error, str(folder), "no anchor")


def test_two_anchors(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("ckpt4_linktime")
    shutil.copy(folder / "traces.otf2", folder / "other.otf2")
    with pytest.raises(TraceError) as error:
        read_anchor(folder)
    one_line(error, "2 anchors", "other.otf2, traces.otf2")
    assert read_anchor(folder / "traces.otf2").locations == 4


def test_path_with_a_null_byte() -> None:
    with pytest.raises(TraceError):
        read_anchor("a\0b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_anchor(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("serial1")
    (folder / "traces.otf2").chmod(0)
    with pytest.raises(TraceError) as error:
        read_anchor(folder)
    one_line(error, "cannot read", "permission")


def changed(**bytes_at: int) -> Callable[[bytes], bytes]:
    def change(content: bytes) -> bytes:
        new = bytearray(content)
        for position, value in bytes_at.items():
            new[int(position[1:])] = value
        return bytes(new)

    return change


@pytest.mark.parametrize("known", [0, 1, 2])
def test_formats_of_all_releases_are_known(known: int, copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("serial1")
    path = folder / "traces.otf2"
    path.write_bytes(changed(b8=known)(path.read_bytes()))
    assert read_anchor(folder).trace_format == known


@pytest.mark.parametrize(
    ("change", "kind", "part"),
    [
        (lambda _: b"", TraceError, "is empty"),
        (lambda _: b"Just a text file, nothing else.\n" * 9, TraceError, "not an OTF2 anchor"),
        (changed(b2=0x58), TraceError, "not an OTF2 anchor"),
        (changed(b0=4), TraceError, "not an OTF2 anchor"),
        (changed(b1=0x44), TraceError, "not an OTF2 anchor"),
        (lambda content: content[:20], TraceError, "cut short"),
        (lambda content: content[:5], TraceError, "not an OTF2 anchor"),
        (changed(b28=2), UnsupportedTraceError, "SION"),
        (changed(b28=9), UnsupportedTraceError, "substrate 9"),
        (changed(b29=7), UnsupportedTraceError, "compression 7"),
        (changed(b8=3), UnsupportedTraceError, "trace format 3, known are 0 to 2"),
        (changed(b19=0xFF), TraceError, "chunk sizes"),
        (lambda content: content[:12] + bytes(8) + content[20:], TraceError, "chunk sizes"),
    ],
)
def test_bad_anchor(
    change: Callable[[bytes], bytes], kind: type[TraceError], part: str, copy_of: Callable[[str], Path]
) -> None:
    anchor = copy_of("serial1") / "traces.otf2"
    anchor.write_bytes(change(anchor.read_bytes()))
    with pytest.raises(TraceError) as error:
        read_anchor(anchor)
    assert type(error.value) is kind
    one_line(error, part, str(anchor))


def test_other_files_of_an_archive_are_no_anchors(fixtures: Path) -> None:
    for name in ("traces.def", "traces/0.evt", "MANIFEST.md"):
        with pytest.raises(TraceError) as error:
            read_anchor(fixtures / "serial1" / name)
        one_line(error, "not an OTF2 anchor")


def test_anchor_by_another_suffix(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("serial1")
    (folder / "traces.otf2").rename(folder / "traces.anchor")
    with pytest.raises(TraceError) as error:
        read_anchor(folder / "traces.anchor")
    one_line(error, "rename")


def pipe_at(path: Path) -> Path:
    """Put a named pipe in the place of a file."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    return path


def within_seconds(code: str, *arguments: Path) -> str:
    """Run Python code in a process of its own, which ends soon or is ended, and return what it prints."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


READ_ALL = """
import sys
from iostrata.otf2io.archive import open_archive
from iostrata.otf2io.source import Otf2Source
from iostrata.model.errors import TraceError
try:
    source = Otf2Source(open_archive(sys.argv[1]), "library")
    blocks = [block for partition in source.partitions(None, 1) for block in source.read(partition)]
    print(*(f"{damage.location}: {damage.reason}" for block in blocks for damage in block.damage))
except TraceError as error:
    print(error)
"""


def test_a_pipe_is_no_anchor(tmp_path: Path) -> None:
    pipe = pipe_at(tmp_path / "run.otf2")
    for given in (pipe, tmp_path):
        message = within_seconds(READ_ALL, given)
        assert message.count("\n") == 1
        assert f"{pipe} is no file but a pipe" in message


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/tty"])
def test_a_device_is_no_anchor(device: str) -> None:
    if not Path(device).exists():
        pytest.skip(f"this machine has no {device}")
    with pytest.raises(TraceError) as error:
        read_anchor(device)
    one_line(error, device, "is no file but a pipe, a device")


def test_a_file_of_the_kernel_is_not_read(tmp_path: Path) -> None:
    """Some of them (/proc/kmsg) would be waited for; all say they are empty."""
    (tmp_path / "run.otf2").symlink_to("/proc/self/status")
    with pytest.raises(TraceError) as error:
        read_anchor(tmp_path)
    one_line(error, "is empty")


def test_pipes_in_an_archive_are_damage(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("ckpt4_linktime")
    pipe_at(folder / "traces" / "0.evt")
    pipe_at(folder / "traces" / "1.def")
    message = within_seconds(READ_ALL, folder)
    assert "0: its event file cannot be read (not a regular file)" in message
    assert "1: its definition file is damaged" in message
    definitions = pipe_at(folder / "traces.def")
    assert f"the global definitions {definitions} are cut short or unreadable" in within_seconds(READ_ALL, folder)


def test_base_name_with_dots(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("serial1")
    (folder / "traces.otf2").rename(folder / "run.v1.2.otf2")
    assert read_anchor(folder).base == folder / "run.v1.2"


def test_big_endian_and_compressed_anchors_are_read(tmp_path: Path) -> None:
    head = bytearray(46)
    head[0:7] = b"\x03\x23OTF2\0"
    head[7:12] = bytes((3, 2, 3, 0, 3))
    head[12:20] = (1 << 20).to_bytes(8, "big")
    head[20:28] = (1 << 22).to_bytes(8, "big")
    head[28:30] = bytes((1, 2))
    head[30:38] = (5).to_bytes(8, "big")
    head[38:46] = (77).to_bytes(8, "big")
    path = tmp_path / "big.otf2"
    path.write_bytes(bytes(head) + bytes(3 + 4 + 8))
    anchor = read_anchor(path)
    assert not anchor.little_endian
    assert (anchor.event_chunk, anchor.definition_chunk) == (1 << 20, 1 << 22)
    assert (anchor.compression, anchor.locations, anchor.global_definitions) == (2, 5, 77)
