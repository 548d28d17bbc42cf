"""Sources of a running job: files, folders and sockets that come, grow, are cut and go."""

import json
import os
import socket

import pytest
from iostrata.live import sources
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


def test_a_file_or_folder_may_come_later(tmp_path):
    intake = Intake()
    file, folder = (open_source(str(tmp_path / name), intake, wait=True) for name in ("a.jsonl", "nodes"))
    assert not file.read()
    assert not file.finished()
    (tmp_path / "a.jsonl").write_bytes(line(0.0))
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "b.jsonl").write_bytes(line(1.0))
    drained(file)
    drained(folder)
    assert starts(intake) == [0.0, 1.0]
    with pytest.raises(FileNotFoundError):
        open_source(str(tmp_path / "never"), intake)


def test_more_files_than_may_be_open_are_read_in_turn(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_OPEN", 3)
    monkeypatch.setattr(sources, "MOST_FILES", 9)
    intake = Intake()
    for number in range(11):
        (tmp_path / f"{number:02}.jsonl").write_bytes(line(float(number)) + line(100.0 + number)[:20])
    before = len(os.listdir("/proc/self/fd"))
    folder = open_source(str(tmp_path), intake)
    drained(folder)
    assert len(os.listdir("/proc/self/fd")) - before <= 3
    for number in range(11):
        with (tmp_path / f"{number:02}.jsonl").open("ab") as written:
            written.write(line(100.0 + number)[20:])
    drained(folder)
    assert sorted(starts(intake)) == [*map(float, range(9)), *(100.0 + number for number in range(9))]
    assert folder.left_out() == 2
    assert intake.counts.malformed == intake.counts.truncations == 0
    folder.close()


def test_a_connection_that_says_nothing_does_not_end_the_job(tmp_path):
    intake = Intake()
    source = open_source(f"unix:{tmp_path / 'socket'}", intake)
    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.connect(str(tmp_path / "socket"))
        drained(source)
    drained(source)
    with pytest.raises(SelectionError, match="another program listens there"):
        open_source(f"unix:{tmp_path / 'socket'}", Intake())
    drained(source)
    assert not source.finished()
    with socket.socket(socket.AF_UNIX) as writer:
        writer.connect(str(tmp_path / "socket"))
        writer.sendall(line(0.0))
    drained(source)
    assert source.finished()
    source.close()


def test_descriptors_above_those_of_select_can_be_waited_at():
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("the system allows too few descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    try:
        reader, writer = os.pipe()
        high = os.dup2(reader, 1500)
        os.write(writer, line(0.0))
        intake = Intake()
        sources.wait_for([high], 1.0)
        assert sources.StreamSource(high, intake).read()
        assert starts(intake) == [0.0]
        for one in (reader, writer, high):
            os.close(one)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_writers_beyond_the_limit_of_descriptors_wait_for_others_and_are_told_of(tmp_path, monkeypatch):
    intake = Intake()
    source = sources.open_source(f"unix:{tmp_path / 'socket'}", intake)
    writers = [socket.socket(socket.AF_UNIX) for _ in range(4)]
    lowest = os.dup(writers[-1].fileno())
    os.close(lowest)
    monkeypatch.setattr(sources, "_most_descriptors", lambda: lowest + sources.KEPT + 2)
    for number, writer in enumerate(writers):
        writer.connect(str(tmp_path / "socket"))
        writer.sendall(line(float(number)))
    drained(source)
    assert (starts(intake), source.left_out()) == ([0.0, 1.0], 1)
    for writer in writers[:2]:
        writer.close()
    # Descriptors of this test that are free would let more in.
    held = [os.dup(writers[-1].fileno()) for _ in range(2)]
    drained(source)
    drained(source)
    assert (starts(intake), source.left_out()) == ([2.0, 3.0], 0)
    for one in held:
        os.close(one)
    for writer in writers[2:]:
        writer.close()
    drained(source)
    assert source.finished()
    source.close()
