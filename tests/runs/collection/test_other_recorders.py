"""What other recorders wrote is found in folders by its content, and a collection holds no number that nobody knows."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest
from iostrata.cli import main
from iostrata.runs import Collection
from iostrata.runs.collection.content import find_traces
from iostrata.runs.collection.read import Settings, read_run

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[2] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)

TABLE = "layer,rank,start,end,bytes,mode\nPOSIX,0,0.0,1.0,10,write\nPOSIX,1,2.0,3.0,20,read\n"


def heatmap_log(layers: tuple[str, ...] = ("POSIX", "MPIIO")) -> bytes:
    """Return a log of 5 s that knows bytes by intervals only."""
    records = [made.heatmap(row, 0, 0.5, [0, 8, 0, 30], [3, 0, 0, 0]) for row in range(len(layers))]
    names = {row: f"heatmap:{name}" for row, name in enumerate(layers)}
    return bytes(made.DarshanLog({"HEATMAP": (1, records)}, names, "3.41", length=5.0))


def traced_log(host: str = "n1") -> bytes:
    segments = [(64 * place, 64, place + 0.25, place + 0.5) for place in range(8)]
    return bytes(made.DarshanLog({"DXT_POSIX": (1, [made.dxt(7, 0, segments, host=host)])}, {7: "/scratch/x"}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of one trace of each recorder among files of other kinds."""
    runs = tmp_path / "all"
    for name in ("deep", "ranks", "old"):
        (runs / name).mkdir(parents=True)
    (runs / "deep" / "traced").write_bytes(traced_log())
    (runs / "deep" / "binned.log").write_bytes(heatmap_log())
    (runs / "counted").write_bytes(bytes(made.DarshanLog({"POSIX": (4, [made.posix(5, 0, 3, 4, 30, 40)])})))
    (runs / "table.txt").write_text(TABLE)
    for pid in (3, 4):
        lines = [made.dftracer_event("write", 1000 * n, 100, pid=pid, ret=5, fname="/f") for n in range(1, 4)]
        (runs / "ranks" / f"app-{pid}.pfw").write_text("[\n" + "\n".join(lines) + "\n]\n")
    (runs / "readme.txt").write_text("layers and starts\n")
    (runs / "empty").touch()
    (runs / "numbers.csv").write_text("a,b\n1,2\n")
    pyarrow.parquet.write_table(pyarrow.table({"cat": ["x"], "value": [1.0]}), runs / "other.parquet")
    return runs


def test_folders_hold_what_any_recorder_wrote(folder, fixtures):
    shutil.copytree(fixtures / "serial1", folder / "score")
    found = {str(path.relative_to(folder)) for path in find_traces([folder])}
    assert found == {"deep/traced", "deep/binned.log", "counted", "table.txt", "ranks", "score/traces.otf2"}


def test_what_lies_around_files_of_processes_is_none_of_their_run(tmp_path, fixtures, capsys):
    """A folder below it with another run, a link to nothing, and an anchor beside them."""
    here = tmp_path / "runs"
    shutil.copytree(fixtures / "serial1", here / "below")
    event = {"id": 0, "name": "write", "cat": "POSIX", "pid": 1, "tid": 1, "ts": 5, "dur": 5, "ph": "X"}
    line = json.dumps({**event, "args": {"fname": "/x", "ret": 4096, "fd": 5}})
    (here / "one.pfw").write_text(f"[\n{line}\n")
    (here / "below" / "dangling").symlink_to("nowhere")
    assert main(["collect", str(here), "-o", str(tmp_path / "c"), "--workers", "1"]) == 0
    jobs = {job.name: job for job in Collection(tmp_path / "c").jobs}
    assert {name: job.status for name, job in jobs.items()} == {"runs": "read", "below": "read"}
    assert jobs["runs"].bytes_written == 4096
    # What changes below is not read again with it.
    (here / "below" / "new").write_text("x")
    capsys.readouterr()
    assert main(["collect", str(here), "-o", str(tmp_path / "c"), "--workers", "1"]) == 0
    assert "2 unchanged" in capsys.readouterr().out
    (here / "other.otf2").write_bytes(b"")
    assert here / "one.pfw" in list(find_traces([here]))


def test_an_empty_log_in_a_folder_is_a_row_that_says_so(tmp_path, fixtures):
    here = tmp_path / "runs"
    shutil.copytree(fixtures / "serial1", here / "score")
    (here / "killed.darshan").touch()
    assert main(["collect", str(here), "-o", str(tmp_path / "c"), "--workers", "1"]) == 0
    jobs = {job.name: job for job in Collection(tmp_path / "c").jobs}
    assert {name: job.status for name, job in jobs.items()} == {"score": "read", "killed": "failed"}
    assert "the Darshan log is empty" in (jobs["killed"].reason or "")


def test_a_collection_within_a_folder_is_no_run(folder):
    assert main(["collect", str(folder), "-o", str(folder / "old" / "runs"), "--workers", "1"]) == 0
    assert not [path for path in find_traces([folder]) if "old" in path.parts]


def test_what_a_recorder_does_not_tell_is_null(folder, capsys):
    out = folder.parent / "runs"
    assert main(["collect", str(folder), "-o", str(out), "--segment", "1", "--workers", "1"]) == 0
    capsys.readouterr()
    runs = {run.job.name: run for run in Collection(out).runs()}
    assert {name: run.job.status for name, run in runs.items()} == {
        "traced": "read",
        "binned": "read",
        "counted": "failed",
        "table": "read",
        "ranks": "read",
    }
    assert "without times" in runs["counted"].job.reason
    traced, binned = runs["traced"].job, runs["binned"].job
    # One of the ranks is known to have run on a node.
    assert (traced.operations, traced.bytes_written, traced.metadata_operations, traced.nodes) == (8, 512, None, None)
    assert (traced.recorder, traced.layers_recorded) == ("Darshan", ("MPI-IO", "POSIX"))
    assert traced.directions_recorded == ("read", "write")
    assert "small-requests" in traced.findings_sought
    assert "opened-not-used" not in traced.findings_sought
    assert runs["table"].job.layers_recorded == ()
    assert runs["binned"].job.findings_sought == ()
    # Each layer's bytes are known; which of them the program moved itself, no one knows.
    assert (binned.operations, binned.bytes_written, binned.io_s, binned.nodes) == (None, None, None, None)
    layers = {(row.layer, row.direction): row for row in runs["binned"].layers}
    assert {key: row.bytes for key, row in layers.items()} == {
        (layer, direction): volume
        for layer in ("MPI-IO", "POSIX")
        for direction, volume in (("write", 38), ("read", 3))
    }
    for row in layers.values():
        assert (row.operations, row.busy_s, row.bandwidth, row.request_p50, row.own_bytes) == (None,) * 5
    # Missing metrics are allowed; zeros would train limits.
    assert {row.metric for row in runs["binned"].segments} == {"read_bytes", "write_bytes"}
    assert {row.metric for row in runs["traced"].segments} == {"read_bytes", "read_calls", "write_bytes", "write_calls"}
    assert {row.metric for row in runs["ranks"].segments} >= {"md_read", "write_calls"}


def test_commands_on_many_runs_take_them(folder, capsys, tmp_path):
    """Each says what it left out, and answers for the rest."""
    for command in (
        ["assess", str(folder), "--segment", "1", "--json"],
        ["signature", str(folder / "deep"), "--layer", "POSIX", "--direction", "write", "--json"],
    ):
        assert main(command) == 0
        out, err = capsys.readouterr()
        document = json.loads(out)
        assert ("counters" in err) == (command[0] == "assess")
        assert len(document.get("jobs", document.get("samples"))) == (4 if command[0] == "assess" else 2)
    (tmp_path / "other.log").write_bytes(heatmap_log(("POSIX",)))
    assert main(["diff", str(folder / "deep" / "binned.log"), str(tmp_path / "other.log"), "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert any(one["layer"] == "MPI-IO" and "38 B" in one["text"] and "operation" not in one["text"] for one in changes)
    assert main(["diff", str(folder / "deep" / "binned.log"), str(folder / "deep" / "binned.log")]) == 0
    assert "No change that matters" in capsys.readouterr().out
    assert main(["collect", str(folder), "-o", str(tmp_path / "runs"), "--workers", "1"]) == 0
    assert main(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html")]) == 0


def test_flushes_are_part_of_what_a_run_loses(tmp_path):
    """A database writes next to nothing, and waits in each flush."""
    rows = [f"POSIX,{rank},write,{2 * rank},{2 * rank + 0.25},100,/a" for rank in range(2)]
    flushes = [f"POSIX,{rank},flush,{2 * rank + 0.25},{2 * rank + 1.25},,/a" for rank in range(2)]
    (tmp_path / "run.csv").write_text("\n".join(["layer,rank,mode,start,end,bytes,file", *rows, *flushes]) + "\n")
    job = read_run(tmp_path / "run.csv", Settings()).job
    assert job.cost_s == pytest.approx(2.5)
    assert job.rank_io_s == pytest.approx(0.25)
