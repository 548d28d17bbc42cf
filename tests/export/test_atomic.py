"""Files that are there whole or not at all."""

import errno
import os
import tempfile
from pathlib import Path

import pytest
from iostrata import OutputError
from iostrata.export.atomic import atomic_file, written_together

NOBODY = 65534


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def write(target: Path | str, text: str = "new") -> None:
    with atomic_file(target) as temporary:
        temporary.write_text(text)


def fail_half_way(target: Path, error: BaseException) -> None:
    with atomic_file(target) as temporary:
        temporary.write_text("half")
        raise error


def test_new_file_appears_only_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "out.h5"
    with atomic_file(target) as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
        assert not target.exists()
    assert target.read_text() == "new"
    assert names(tmp_path) == ["out.h5"]


def test_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "out.h5")
    finally:
        os.umask(before)
    assert (tmp_path / "out.h5").stat().st_mode & 0o777 == 0o640


def test_replaced_file_hands_on_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "out.h5"
    target.write_text("old")
    target.chmod(0o604)
    write(target)
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o604


def test_nobody_else_can_read_what_replaces_a_private_file_meanwhile(tmp_path: Path) -> None:
    target = tmp_path / "out.h5"
    target.write_text("old")
    target.chmod(0o600)
    with atomic_file(target) as temporary:
        assert temporary.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("error", [ValueError("bug"), KeyboardInterrupt(), OutputError("said already")])
def test_error_of_the_block_passes_and_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    target = tmp_path / "out.h5"
    target.write_text("old")
    with pytest.raises(type(error)) as caught:
        fail_half_way(target, error)
    assert str(caught.value) == str(error)
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.h5"]


def test_system_error_of_the_block_becomes_one_line(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(OutputError, match=r"^cannot write '.*out\.h5': no space left on device; free some") as caught:
        fail_half_way(tmp_path / "out.h5", full)
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing/out.h5", "no such file or directory; create the folder"),
        ("file/out.h5", "file is a file, not a folder; choose another name"),
        ("folder", "it is a folder"),
        ("absent/", "it names a folder"),
        ("pipe", "it is a device, pipe or socket"),
        ("loop", "too many levels of symbolic links; choose"),
        ("n" * 300, "file name too long; choose a shorter"),
        ("nul\0", "null"),
        ("two\nlines/out.h5", "no such file"),
    ],
)
def test_impossible_target_is_one_line_and_leaves_nothing(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    before = names(tmp_path)
    with pytest.raises(OutputError, match=message) as caught:
        write(f"{tmp_path}/{name}")
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == before
    assert names(tmp_path / "folder") == []
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "file").read_text() == "old"


def test_folder_without_permission() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        root = os.geteuid() == 0
        try:
            if root:  # to whom permissions do not apply
                os.seteuid(NOBODY)
            with pytest.raises(OutputError, match=r"permission denied; choose a folder that you may write to"):
                write(folder / "out.h5")
        finally:
            if root:
                os.seteuid(0)
        assert names(folder) == []


def test_symbolic_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "out.h5"
    link.symlink_to("there/real.h5")
    write(link)
    assert link.is_symlink()
    assert (tmp_path / "there" / "real.h5").read_text() == "new"
    assert names(tmp_path / "there") == ["real.h5"]


def test_longest_possible_name(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 255)
    write(target)
    assert target.read_text() == "new"


@pytest.mark.parametrize("name", ["traces.otf2", "traces.def", "0.evt"])
def test_no_file_of_a_trace_is_replaced_by_a_link(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"recorded")
    (tmp_path / "out.h5").symlink_to(tmp_path / name)
    with pytest.raises(OutputError, match=f"{name} belongs to a trace"), atomic_file(tmp_path / "out.h5"):
        pass
    assert (tmp_path / name).read_bytes() == b"recorded"
    assert len(list(tmp_path.iterdir())) == 2


def write_both(folder: Path, error: BaseException | None = None) -> None:
    with written_together():
        write(folder / "first.json")
        assert not (folder / "first.json").exists() or (folder / "first.json").read_text() == "old"
        write(folder / "second.svg")
        if error is not None:
            raise error


def test_files_that_belong_together_appear_together(tmp_path: Path) -> None:
    (tmp_path / "first.json").write_text("old")
    (tmp_path / "first.json").chmod(0o604)
    write_both(tmp_path)
    assert {name: (tmp_path / name).read_text() for name in names(tmp_path)} == {
        "first.json": "new",
        "second.svg": "new",
    }
    assert (tmp_path / "first.json").stat().st_mode & 0o777 == 0o604
    write(tmp_path / "third.h5")  # afterwards files are written by themselves again
    assert (tmp_path / "third.h5").read_text() == "new"


@pytest.mark.parametrize("error", [ValueError("bug"), KeyboardInterrupt(), OutputError("said already")])
@pytest.mark.parametrize("before", [[], ["first.json"], ["first.json", "second.svg"]])
def test_none_of_the_files_that_belong_together_appears_after_an_error(
    tmp_path: Path, before: list[str], error: BaseException
) -> None:
    for name in before:
        (tmp_path / name).write_text("old")
    with pytest.raises(type(error)):
        write_both(tmp_path, error)
    assert {name: (tmp_path / name).read_text() for name in names(tmp_path)} == dict.fromkeys(before, "old")


def write_both_where_a_folder_comes_between(folder: Path) -> None:
    with written_together():
        write(folder / "first.json")
        write(folder / "second.svg")
        (folder / "second.svg").mkdir()


@pytest.mark.parametrize("before", [[], ["first.json"]])
def test_what_was_put_into_place_is_put_back_where_the_next_cannot_be(tmp_path: Path, before: list[str]) -> None:
    for name in before:
        (tmp_path / name).write_text("old")
    with pytest.raises(OutputError, match=r"^cannot write '.*second\.svg': is a directory"):
        write_both_where_a_folder_comes_between(tmp_path)
    assert names(tmp_path) == [*before, "second.svg"]
    assert [(tmp_path / name).read_text() for name in before] == ["old"] * len(before)


def test_a_close_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def close(_descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "close", close)
    with pytest.raises(OutputError, match="input/output error"), atomic_file(tmp_path / "x.h5"):
        pass
    assert list(tmp_path.iterdir()) == []
