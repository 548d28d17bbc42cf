"""Every command on every input: an answer, or one line that says what the recorder does not tell."""

import importlib.util
import json
from pathlib import Path

import iostrata
import pytest
from iostrata.cli import main

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[1] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)
heatmap, posix = made.heatmap, made.posix


INPUTS = ["traced_log", "binned_log", "counted_log", "empty_log", "small_dftracer", "small_tmio", "small_table"]
COMMANDS = {
    "info": [],
    "layers": [],
    "layers --by rank": [],
    "layers --by file": [],
    "layers --by function": [],
    "handles": [],
    "periods": [],
    "periods --signal metadata": [],
    "compare": [],
}
REFUSED = {
    "traced_log": {"layers --by function", "periods --signal metadata"},
    "binned_log": set(COMMANDS) - {"info", "layers", "layers --by rank", "periods", "compare"},
    "counted_log": set(COMMANDS) - {"info", "layers"},
    "empty_log": set(COMMANDS) - {"info", "layers"},
    "small_dftracer": set(),
    "small_tmio": {
        "layers --by rank",
        "layers --by file",
        "layers --by function",
        "handles",
        "periods --signal metadata",
    },
    "small_table": {"layers --by function", "periods --signal metadata"},
}


NOTHING_TIMED = {name: name in ("counted_log", "empty_log") for name in INPUTS}


@pytest.fixture
def binned_log(darshan_log):
    """Return a log with HEATMAP only."""
    return darshan_log(
        modules={"HEATMAP": (1, [heatmap(1, 0, 0.5, [0, 8, 0], [3, 0, 0])])}, names={1: "heatmap:POSIX"}, version="3.41"
    )


@pytest.fixture
def counted_log(darshan_log):
    """Return a log with counters only, of which a part is missing."""
    return darshan_log(modules={"POSIX": (4, [posix(5, 0, 3, 4, 30, 40)])}, partial=["POSIX"])


@pytest.fixture
def empty_log(darshan_log):
    """Return a log of a program without I/O."""
    return darshan_log()


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "terminal"])
@pytest.mark.parametrize("memory", [(), ("--memory", "2G")], ids=["full", "memory"])
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", INPUTS)
def test_an_answer_or_one_line(request, capsys, check_documents, name, command, memory, as_json):
    if memory and (command == "info" or "--by function" in command or "--signal" in command):
        pytest.skip("there is no such option here")
    path = request.getfixturevalue(name)
    first, *more = command.split()
    status = main([first, str(path), *more, *memory, *(["--json"] if as_json else [])])
    out, err = capsys.readouterr()
    # What is read whole is told once the trace is open, whatever becomes of it then.
    note, told, rest = err.partition("--memory bounds what is made of them\n")
    if told:
        assert memory
        assert note.startswith("iostrata: note: ")
        err = rest
    if command in REFUSED[name]:
        assert status == 1
        assert out == ""
        assert err.startswith("iostrata: error: ")
        assert err.count("\n") == 1
        return
    assert (status, "error" in err) == (0, False)
    assert bool(told) == bool(memory and not NOTHING_TIMED[name])
    if as_json:
        check_documents(first, out)
        document = json.loads(out)
        assert document["schema_version"] == 1
        assert first == "info" or document["trace"]["recorder"] in ("Darshan", "DFTracer", "TMIO", "Table")


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize(
    "out", ["layers.h5", "operations.parquet", "timeline.perfetto.json", "again.otf2", "report.html"]
)
def test_files_are_written_or_not_at_all(request, capsys, tmp_path, name, out):
    path, target = request.getfixturevalue(name), tmp_path / out
    command = ["report", path, "-o", target] if out.endswith("html") else ["convert", path, target]
    status = main([str(one) for one in command])
    err = capsys.readouterr().err
    refused = name in ("counted_log", "empty_log")
    assert (status, target.exists()) == ((1, False) if refused else (0, True))
    assert not refused or err.count("\n") == 1


def test_numbers_that_nobody_knows_are_null(capsys, small_tmio, binned_log):
    main(["layers", str(small_tmio), "--json"])
    entry = json.loads(capsys.readouterr().out)["layers"][0]
    assert (entry["ranks"], entry["files"], entry["handles"], entry["bytes"]) == (None, None, None, 10)
    main(["layers", str(binned_log), "--json"])
    entry = json.loads(capsys.readouterr().out)["layers"][0]
    assert (entry["operations"], entry["busy_s"], entry["bytes"], entry["ranks"]) == (None, None, 3, 1)


@pytest.mark.parametrize("memory", [(), ("--memory", "2G")], ids=["full", "memory"])
def test_of_intervals_only_bytes_are_split_by_rank(capsys, two_binned_layers, memory):
    assert main(["layers", str(two_binned_layers), "--by", "rank", "--json", *memory]) == 0
    rows = json.loads(capsys.readouterr().out)["breakdown"]["rows"]
    found = {(row["layer"], row["rank"], row["bytes_read"], row["bytes_written"]) for row in rows}
    assert found == {("POSIX", 0, 0, 128), ("MPI-IO", 0, 0, 64), ("MPI-IO", 1, 0, 64), ("ISOC", 0, 64, 64)}
    unknown = ("reads", "writes", "summed_s", "busy_s", "opens", "inside_operations")
    assert {row[name] for row in rows for name in unknown} == {None}
    assert main(["layers", str(two_binned_layers), "--by", "rank", *memory]) == 0
    assert ["layer", "rank", "read", "written"] in [line.split() for line in capsys.readouterr().out.splitlines()]
    with pytest.raises(iostrata.SelectionError, match="which --by file needs"):
        iostrata.open_trace(two_binned_layers).breakdown("file")


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["layers"],
        ["periods"],
        ["compare"],
        ["handles"],
        ["report", "-o", "report.html"],
        *(["convert", f"out.{suffix}"] for suffix in ("otf2", "h5", "parquet", "perfetto.json")),
    ],
    ids=" ".join,
)
def test_every_command_says_what_memory_does_not_bound(capsys, tmp_path, monkeypatch, traced_log, command):
    monkeypatch.chdir(tmp_path)
    first, *more = command or [""]
    assert main([*filter(None, [first]), str(traced_log), *more, "--memory", "2G"]) == 0
    (note,) = [line for line in capsys.readouterr().err.splitlines() if "note" in line]
    assert note.startswith("iostrata: note: Darshan's file is read whole: ")
    assert note.endswith("--memory bounds what is made of them")


def test_an_empty_file_is_nobodys(capsys, tmp_path):
    (tmp_path / "log").touch()
    assert main(["layers", str(tmp_path / "log")]) == 1
    assert "log is empty" in capsys.readouterr().err
    (tmp_path / "x.otf2").touch()
    assert main(["layers", str(tmp_path / "x.otf2")]) == 1
    assert "the anchor" in capsys.readouterr().err


def test_counters_stand_where_there_are_no_layers(capsys, counted_log):
    main(["layers", str(counted_log), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["layers"] == []
    assert [(one["direction"], one["operations"], one["bytes"]) for one in document["counters"]] == [
        ("read", 3, 30),
        ("write", 4, 40),
    ]
    assert "ran full" in document["damage"]["locations"][0]["reason"]
    assert document["damage"]["locations"][0]["location"] is None


def test_info_counts_no_handles_that_are_not_recorded(capsys, small_tmio, small_table):
    for path, known in ((small_tmio, False), (small_table, True)):
        assert main(["info", str(path)]) == 0
        text = capsys.readouterr().out
        assert ("without a parent" in text, "roots" in text) == (known, known)
        assert main(["info", str(path), "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["handles"]["total"] is not None, bool(document["files"])) == (known, known)
        assert (document["paradigms"][0]["handles"] is not None) == known


def test_bytes_that_the_recorder_rounded_are_not_called_exact(capsys, monkeypatch, binned_log, small_table):
    monkeypatch.setenv("COLUMNS", "150")
    for path, exact in ((binned_log, False), (small_table, True)):
        assert main(["layers", str(path)]) == 0
        assert ("exactly" in capsys.readouterr().out) is exact


def test_a_report_has_no_chart_of_ranks_that_nobody_knows(capsys, tmp_path, small_tmio, small_table):
    for path, charts in ((small_tmio, 0), (small_table, 3)):
        assert main(["report", str(path), "-o", str(tmp_path / "r.html")]) == 0
        text = (tmp_path / "r.html").read_text().split('id="contents">')[1].split("</script>")[0]
        assert len(json.loads(text)["heat"]["maps"]) == charts
    capsys.readouterr()


def test_nothing_is_guessed_of_handles_that_are_not_recorded(capsys, small_tmio):
    assert main(["handles", str(small_tmio)]) == 1
    assert "--by" not in capsys.readouterr().err
    assert main(["compare", str(small_tmio), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hidden"] == []


@pytest.fixture
def two_binned_layers(darshan_log):
    """Return a log with HEATMAP of two layers, which come every 2 s, and a third that nothing calls."""
    beat = [8, 0, 0, 0] * 8
    return darshan_log(
        modules={
            "HEATMAP": (
                1,
                [
                    heatmap(1, 0, 0.5, [2 * one for one in beat], [0] * 32),
                    heatmap(2, 0, 0.5, beat, [0] * 32),
                    heatmap(2, 1, 0.5, beat, [0] * 32),
                    heatmap(3, 0, 0.5, beat, beat),
                ],
            )
        },
        names={1: "heatmap:POSIX", 2: "heatmap:MPIIO", 3: "heatmap:STDIO"},
        version="3.41",
        length=16.0,
    )


@pytest.mark.parametrize("memory", [(), ("--memory", "2G")], ids=["full", "memory"])
def test_layers_known_by_intervals_stand_side_by_side(capsys, two_binned_layers, memory):
    assert main(["compare", str(two_binned_layers), "--json", *memory]) == 0
    document = json.loads(capsys.readouterr().out)
    (pair,) = document["pairs"]
    assert (pair["upper"], pair["lower"], pair["direction"]) == ("MPI-IO", "POSIX", "write")
    assert (pair["upper_bytes"], pair["lower_layer_bytes"], pair["layer_ratio"]) == (128, 128, 1)
    assert (pair["writers_upper"], pair["lower_layer_writers"]) == (2, 1)
    unknown = ("lower_bytes", "attributed_bytes", "hidden_bytes", "amplification", "fan_out", "contained_s")
    assert [pair[name] for name in unknown] == [None] * len(unknown)
    assert (pair["verdict"], pair["upper_period_s"]) == ("same", pytest.approx(2, rel=0.02))
    assert [document[name] for name in ("findings", "hidden", "balance", "time")] == [[]] * 4


def test_files_of_layers_known_by_intervals_hold_their_signals(capsys, tmp_path, two_binned_layers):
    h5netcdf = pytest.importorskip("h5netcdf")
    assert main(["convert", str(two_binned_layers), str(tmp_path / "x.h5"), "--fs", "2"]) == 0
    with h5netcdf.File(tmp_path / "x.h5") as file:
        volume = file["bandwidth"][...].sum(axis=2) / 2
        assert dict(zip(map(bytes.decode, file["layer"][...]), volume[:, 1].tolist(), strict=True)) == {
            "MPI-IO": 128,
            "ISOC": 64,
            "POSIX": 128,
        }
        assert "handles" not in file.groups
        assert "operations" not in file["statistics"].variables
        assert file["statistics"]["ranks"][...].tolist()[0] == [0, 2]
        assert file["comparison"]["lower_layer_bytes"][...].tolist() == [128]
        assert "single operations" in file.attrs["not_recorded"]
    assert main(["convert", str(two_binned_layers), str(tmp_path / "x.perfetto.json")]) == 0
    events = json.loads((tmp_path / "x.perfetto.json").read_text())["traceEvents"]
    counters = {one["name"] for one in events if one["ph"] == "C"}
    assert counters == {f"{name} bandwidth" for name in ("MPI-IO write", "POSIX write", "ISOC write", "ISOC read")}
    assert not [one for one in events if one["ph"] == "X" and one["pid"] > min(one["pid"] for one in events)]
    capsys.readouterr()
