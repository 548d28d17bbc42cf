"""Sources of a running job: files, folders and sockets that come, grow, are cut and go."""

import json
import os
import socket

import pytest
from iostrata.live.records.intake import Intake
from iostrata.live.sources import FileSource, open_source
from iostrata.model.errors import SelectionError


def line(start, volume=8):
    text = json.dumps({"layer": "POSIX", "mode": "write", "start": start, "end": start + 0.5, "bytes": volume})
    return text.encode() + b"\n"


def drained(source):
    while source.read():
        pass


def starts(intake):
    return [start for found in intake.take().values() for start in found.start.tolist()]


def test_a_file_that_grows_is_cut_and_replaced(tmp_path):
    path, intake = tmp_path / "live.jsonl", Intake()
    path.write_bytes(line(0.0) + line(1.0)[:20])
    source = FileSource(path, intake)
    drained(source)
    assert starts(intake) == [0.0]
    with path.open("ab") as file:
        file.write(line(1.0)[20:])
    drained(source)
    assert starts(intake) == [1.0]
    path.write_bytes(line(2.0))
    drained(source)
    assert starts(intake) == [2.0]
    (tmp_path / "new").write_bytes(line(3.0) + line(4.0) + line(5.0) + line(6.0))
    os.replace(tmp_path / "new", path)
    drained(source)
    assert starts(intake) == [3.0, 4.0, 5.0, 6.0]
    assert intake.counts.truncations == 2
    path.unlink()
    drained(source)
    source.close()
    assert intake.counts.malformed == 0


def test_a_folder_takes_in_new_files(tmp_path):
    intake = Intake()
    (tmp_path / "a.jsonl").write_bytes(line(0.0))
    (tmp_path / "notes.txt").write_bytes(b"no line")
    source = open_source(str(tmp_path), intake)
    drained(source)
    (tmp_path / "b.jsonl").write_bytes(line(1.0))
    drained(source)
    assert starts(intake) == [0.0, 1.0]
    assert not source.finished()
    for name in ("a", "b"):
        with (tmp_path / f"{name}.jsonl").open("ab") as file:
            file.write(b'{"kind": "end", "time": 2.0}\n')
    drained(source)
    assert source.finished()
    assert intake.counts.malformed == 0


def test_a_link_to_itself_hides_no_other_file_of_its_folder(tmp_path):
    intake = Intake()
    (tmp_path / "a.jsonl").symlink_to("a.jsonl")
    (tmp_path / "b.jsonl").write_bytes(line(1.0))
    drained(open_source(str(tmp_path), intake))
    assert starts(intake) == [1.0]


def test_a_socket_takes_writers_that_come_and_go(tmp_path):
    intake = Intake()
    path = tmp_path / "socket"
    source = open_source(f"unix:{path}", intake)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(SelectionError, match="another program listens there"):
        open_source(f"unix:{path}", Intake())
    for start in (0.0, 1.0):
        with socket.socket(socket.AF_UNIX) as writer:
            writer.connect(str(path))
            writer.sendall(line(start) + line(9.0)[:30])
            drained(source)
        drained(source)
    assert starts(intake) == [0.0, 1.0]
    assert intake.counts.malformed == 2
    assert source.finished()
    source.close()
    assert not path.exists()


def test_a_socket_that_nobody_listens_at_any_more_makes_room(tmp_path):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    open_source(f"unix:{path}", Intake()).close()
    assert not path.exists()


def test_a_port():
    intake = Intake()
    source = open_source("tcp:127.0.0.1:0", intake)
    with socket.create_connection(source._listening.getsockname()) as writer:
        writer.sendall(line(0.0))
        while not intake.waiting:
            source.read()
    source.close()
    assert starts(intake) == [0.0]


@pytest.mark.parametrize("name", ["tcp:nowhere", "tcp:127.0.0.1:70000", "unix:/no/such/folder/socket"])
def test_what_cannot_be_listened_at_is_said_in_a_line(name):
    with pytest.raises(SelectionError, match="give "):
        open_source(name, Intake())


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SelectionError, match="not a file that grows"):
        open_source(str(tmp_path / "pipe"), Intake())
