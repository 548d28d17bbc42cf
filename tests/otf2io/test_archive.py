"""Opening archives and reading them as a user would: choice of engine, silence, a light start."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from iostrata import SelectionError, TraceError, UnsupportedTraceError
from iostrata.otf2io.archive import open_archive

from .reading import read_events


def test_choice_of_engine(fixtures: Path) -> None:
    archive = open_archive(fixtures / "serial1")
    with pytest.raises(SelectionError, match="no engine 'fast'"):
        read_events(archive, "fast")
    assert read_events(archive).engine == read_events(archive, "direct").engine == "direct"
    assert read_events(archive, "library").engine == "library"


@pytest.mark.parametrize("workers", [0, -3])
def test_workers_below_one(workers: int, fixtures: Path) -> None:
    with pytest.raises(SelectionError, match="workers"):
        read_events(open_archive(fixtures / "serial1"), workers=workers)


def test_another_base_name_and_relative_path(new_archive: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(new_archive(name="a folder ä", archive_name="run-2")) as trace:
        trace.event_writer("thread", group=trace.defined.groups[0]).io_destroy_handle(1, trace.defined.handles[0])
    monkeypatch.chdir(trace.defined.folder)
    for path in (".", "run-2.otf2", Path("run-2.otf2")):
        assert len(read_events(open_archive(path)).events) == 1


def test_nothing_reaches_stdout_or_stderr(
    copy_of: Callable[[str], Path], capfd: pytest.CaptureFixture[str], fixtures: Path
) -> None:
    folder = copy_of("ckpt4_linktime")
    (folder / "traces" / "1.def").unlink()
    (folder / "traces" / "2.evt").unlink()
    content = (folder / "traces" / "0.evt").read_bytes()
    (folder / "traces" / "0.evt").write_bytes(content[: len(content) // 3])
    assert len(read_events(open_archive(folder)).damage.locations) == 3
    read_events(open_archive(fixtures / "broken_race_corruption"))
    assert capfd.readouterr() == ("", "")


def test_the_library_speaks_again_afterwards(fixtures: Path) -> None:
    code = (
        "import sys, _otf2\n"
        "from iostrata.otf2io.archive import open_archive\n"
        f"open_archive({str(fixtures / 'serial1')!r})\n"
        "try:\n"
        "    _otf2.Reader_Open('/nowhere/traces.otf2')\n"
        "except _otf2.Error:\n"
        "    pass\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "error" in done.stderr


def test_all_files_lost(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("ckpt4_linktime")
    for path in (folder / "traces").iterdir():
        path.unlink()
    (folder / "traces").rmdir()
    read = read_events(open_archive(folder))
    assert len(read.events) == 0
    assert [damage.location for damage in read.damage.locations] == [0, 1, 2, 3]
    assert (read.damage.events_expected, read.damage.events_read) == (2042, 0)


def test_anchor_without_its_texts(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("serial1")
    content = (folder / "traces.otf2").read_bytes()
    (folder / "traces.otf2").write_bytes(content[:46])
    with pytest.raises(TraceError, match="damaged"):
        open_archive(folder)


def test_compressed_archive_is_told_apart(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("serial1")
    content = bytearray((folder / "traces.otf2").read_bytes())
    content[29] = 2
    (folder / "traces.otf2").write_bytes(content)
    with pytest.raises((UnsupportedTraceError, TraceError)) as error:
        open_archive(folder)
    assert "\n" not in str(error.value)


def test_importing_the_floor_is_light() -> None:
    code = "import sys, iostrata.otf2io; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "otf2", "_otf2", "ctypes"} & set(done.stdout.split())
    code = "import sys, iostrata.otf2io.archive, iostrata.otf2io.source; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "scipy", "otf2", "_otf2"} & set(done.stdout.split())
