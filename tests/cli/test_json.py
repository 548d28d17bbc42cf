"""`--json`: one strict document on stdout and nothing else, with the keys that other programs rely on."""

import json
import re
import shutil
import subprocess

import pytest

ARCHIVES = ["ckpt4_linktime", "ncckpt4", "nonblocking4", "ior384", "serial1", "threads2"]
READERS = ["info", "layers", "handles", "periods"]


@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("command", READERS)
def test_one_document_with_the_version_first(run, fixtures, command, archive):
    done = run(command, fixtures / archive, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    found = json.loads(done.stdout)
    assert next(iter(found)) == "schema_version"
    assert found["schema_version"] == 1


@pytest.mark.parametrize("archive", ARCHIVES)
def test_keys_of_layers(document, fixtures, archive):
    found = document("layers", fixtures / archive)
    trace = found["trace"]
    assert {"path", "duration_s", "locations", "ranks", "nodes", "events", "io_events"} <= set(trace)
    assert trace["path"].endswith("traces.otf2")
    assert 0 < trace["io_events"] <= trace["events"]
    assert 0 < trace["ranks"] <= trace["locations"]
    assert 0 < trace["nodes"] <= trace["ranks"]
    assert found["layers"]
    for entry in found["layers"]:
        assert {
            "layer",
            "direction",
            "operations",
            "bytes",
            "busy_s",
            "summed_s",
            "files",
            "handles",
            "ranks",
            "own_operations",
            "own_bytes",
            "undefined_bytes_operations",
            "request_bytes",
        } <= set(entry)
        assert set(entry["request_bytes"]) == {"min", "p50", "p90", "max"}
        assert entry["direction"] in ("read", "write")
        assert entry["operations"] > 0
        assert isinstance(entry["bytes"], int)
        assert 0 < entry["busy_s"] <= entry["summed_s"]
        assert entry["own_operations"] <= entry["operations"]
        assert entry["own_bytes"] <= entry["bytes"]
    assert {"operations", "bytes", "files"} <= set(found["set_aside"])
    assert set(found["damage"]) == {"damaged", "events_expected", "events_read", "locations"}
    assert found["damage"]["damaged"] is False
    assert found["damage"]["events_read"] == found["damage"]["events_expected"] == trace["events"]


def test_layers_stand_highest_first(document, fixtures):
    found = document("layers", fixtures / "ncckpt4")
    assert list(dict.fromkeys(entry["layer"] for entry in found["layers"])) == [
        "netCDF",
        "HDF5",
        "MPI-IO",
        "ISOC",
        "POSIX",
    ]


@pytest.mark.parametrize("archive", ARCHIVES)
def test_keys_of_handles(document, fixtures, archive):
    found = document("handles", fixtures / archive)
    assert {"path", "duration_s"} <= set(found["trace"])
    assert found["damage"]["damaged"] is False
    handles = {handle["id"]: handle for handle in found["handles"]}
    assert len(handles) == len(found["handles"])
    for handle in handles.values():
        assert {
            "id",
            "parent",
            "layer",
            "file",
            "name",
            "operations",
            "bytes_read",
            "bytes_written",
            "subtree_operations",
        } <= set(handle)
        assert handle["parent"] is None or handle["parent"] in handles
        assert handle["subtree_operations"] >= handle["operations"]


def test_flags_and_scopes_of_handles_are_those_that_otf2_print_shows(document, fixtures):
    if shutil.which("otf2-print") is None:
        pytest.skip("otf2-print is not installed")
    command = ["otf2-print", "-G", str(fixtures / "ncckpt4" / "traces.otf2")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    printed = re.findall(r"^IO_HANDLE +(\d+) .*, Flags: (.*?), Communicator:", text, re.MULTILINE)
    files = dict(
        re.findall(r"^IO_(?:REGULAR_FILE|DIRECTORY) +\d+  Name: \"(.*?)\" <\d+>, Scope: (.*)$", text, re.MULTILINE)
    )
    named = {"PRE_CREATED": "pre-created", "ALL_PROXY": "all proxy"}
    handles = {
        handle["id"]: handle for handle in document("handles", fixtures / "ncckpt4", "--files", "all")["handles"]
    }
    assert len(printed) == len(handles) == 323
    for identity, flags in printed:
        expected = ", ".join(text for name, text in named.items() if name in flags) or None
        assert handles[int(identity)]["flags"] == expected
    scoped = 0
    for handle in handles.values():
        if handle["file"] is not None and handle["scope"] is None:
            assert "UNDEFINED" in files[handle["file"]]
        elif handle["scope"] is not None:
            scoped += 1
            assert handle["scope"] in ("nid00001", "nid00002")
    assert scoped > 200


@pytest.mark.parametrize("archive", ARCHIVES)
def test_handles_add_up_to_their_layers(document, fixtures, archive):
    volumes = {}
    for handle in document("handles", fixtures / archive)["handles"]:
        if handle["set_aside"] is None:
            for direction, key in (("read", "bytes_read"), ("write", "bytes_written")):
                place = handle["layer"], direction
                volumes[place] = volumes.get(place, 0) + handle[key]
    for entry in document("layers", fixtures / archive)["layers"]:
        assert volumes[entry["layer"], entry["direction"]] == entry["bytes"]


@pytest.mark.parametrize("archive", ARCHIVES)
def test_keys_of_periods(document, fixtures, archive):
    found = document("periods", fixtures / archive)
    assert {"path", "duration_s"} <= set(found["trace"])
    assert set(found["damage"]) == {"damaged", "events_expected", "events_read", "locations"}
    assert found["layers"]
    for entry in found["layers"]:
        assert {
            "layer",
            "direction",
            "periodic",
            "period_s",
            "period_interval_s",
            "frequency_hz",
            "confidence",
            "recurrence_s",
            "jitter",
            "periods",
            "method",
            "phases",
            "regimes",
            "metrics",
            "sampling",
            "reason",
        } <= set(entry)
        assert {"fs_hz", "samples"} <= set(entry["sampling"])
        assert {"sigma_vol", "sigma_time", "r_io", "b_io", "volume_per_period", "periodicity_score"} <= set(
            entry["metrics"]
        )
        assert entry["reason"]
        if entry["periodic"]:
            low, high = entry["period_interval_s"]
            assert low <= entry["period_s"] <= high
            assert entry["frequency_hz"] == pytest.approx(1 / entry["period_s"])
            assert entry["periods"][0]["period_s"] == entry["period_s"]
        else:
            assert entry["period_s"] is None
        for phase in entry["phases"]:
            assert set(phase) == {"start_s", "end_s", "bytes"}
        for regime in entry["regimes"]:
            keys = {"start_s", "end_s", "period_s", "confidence", "phases", "valid_share", "metrics", "jitter", "drift"}
            assert set(regime) == keys
        for period in entry["periods"]:
            assert set(period) == {"period_s", "period_interval_s", "confidence", "bytes"}


@pytest.mark.parametrize("archive", ARCHIVES)
def test_periods_has_the_layers_and_directions_that_moved_bytes(document, fixtures, archive):
    moved = {
        (entry["layer"], entry["direction"]): entry["bytes"]
        for entry in document("layers", fixtures / archive)["layers"]
        if entry["bytes"]
    }
    found = document("periods", fixtures / archive)["layers"]
    assert [(entry["layer"], entry["direction"]) for entry in found] == list(moved)
    for entry in found:
        assert entry["bytes"] == pytest.approx(moved[entry["layer"], entry["direction"]], rel=1e-12)


@pytest.mark.parametrize("command", ["layers", "periods"])
def test_layer_and_direction_pick_entries(document, fixtures, command):
    everything = document(command, fixtures / "ncckpt4")["layers"]
    picked = document(command, fixtures / "ncckpt4", "--layer", "POSIX", "--layer", "HDF5", "--direction", "write")
    wanted = [("HDF5", "write"), ("POSIX", "write")]
    assert [(entry["layer"], entry["direction"]) for entry in picked["layers"]] == wanted
    assert [entry for entry in everything if (entry["layer"], entry["direction"]) in wanted] == picked["layers"]


def test_total_is_read_and_write_together(document, fixtures):
    apart = document("layers", fixtures / "ncckpt4")["layers"]
    for entry in document("layers", fixtures / "ncckpt4", "--direction", "total")["layers"]:
        parts = [part for part in apart if part["layer"] == entry["layer"]]
        assert entry["direction"] == "total"
        for key in ("operations", "bytes", "own_bytes", "undefined_bytes_operations"):
            assert entry[key] == sum(part[key] for part in parts)


def test_windows_cut_a_trace_without_loss(document, fixtures):
    whole = {(e["layer"], e["direction"]): e["bytes"] for e in document("layers", fixtures / "ior384")["layers"]}
    for place, volume in whole.items():
        parts = [
            entry["bytes"]
            for window in (":13.7", "13.7:41", "41:")
            for entry in document("layers", fixtures / "ior384", "--window", window)["layers"]
            if (entry["layer"], entry["direction"]) == place
        ]
        assert sum(parts) == pytest.approx(volume, rel=1e-12)
        assert max(parts) < volume


def test_the_sampling_frequency_is_the_one_asked_for(document, fixtures):
    for entry in document("periods", fixtures / "ior384", "--fs", "2.5", "--method", "ftio")["layers"]:
        assert entry["sampling"]["fs_hz"] == 2.5
        assert entry["sampling"]["automatic"] is False
        assert entry["sampling"]["samples"] == 200
        assert entry["method"] == "ftio"


def test_all_files_count_what_is_set_aside(document, fixtures):
    usual = document("layers", fixtures / "ckpt4_linktime")
    everything = document("layers", fixtures / "ckpt4_linktime", "--files", "all")
    assert everything["set_aside"]["operations"] == 0
    assert sum(entry["bytes"] for entry in everything["layers"]) == usual["set_aside"]["bytes"] + sum(
        entry["bytes"] for entry in usual["layers"]
    )


def test_engines_and_workers_give_the_same_layers(document, fixtures):
    usual = document("layers", fixtures / "threads2")
    other = document("layers", fixtures / "threads2", "--engine", "library", "--workers", "2")
    assert usual["layers"] == other["layers"]


def test_info_tells_the_definitions(document, fixtures):
    found = document("info", fixtures / "ncckpt4")
    assert found["trace"] == {**found["trace"], "ranks": 4, "locations": 12, "events": 17364}
    assert found["clock"]["ticks_per_second"] == 10**9
    assert found["trace"]["duration_s"] == pytest.approx(found["clock"]["length_ticks"] / 1e9)
    paradigms = {paradigm["identification"]: paradigm for paradigm in found["paradigms"]}
    assert list(paradigms) == ["netCDF", "HDF5", "POSIX", "ISOC", "MPI-IO"]
    assert paradigms["netCDF"]["properties"] == {"VERSION": "4.9.0"}
    assert paradigms["POSIX"]["os"] is True
    assert paradigms["MPI-IO"]["class"] == "parallel"
    assert found["handles"]["total"] == sum(paradigm["handles"] for paradigm in paradigms.values()) == 323
    assert found["handles"]["roots"] == sum(paradigm["roots"] for paradigm in paradigms.values())
    assert len(found["files"]) == 268
    assert {"id", "name", "directory", "scope", "properties"} == set(found["files"][0])
    scopes = {file["name"]: file["scope"] for file in found["files"]}
    assert scopes["/scratch/demo/run/ncckpt4/out.nc"] is None
    assert {"nid00001", "nid00002"} == {file["scope"] for file in found["files"] if file["name"].startswith("/sys/")}
    tree = [(node["name"], node["class"], node["parent"], node["ranks"]) for node in found["system_tree"]]
    assert tree == [("Linux", "machine", None, 0), ("nid00001", "node", 0, 2), ("nid00002", "node", 0, 2)]
    assert {"id", "name", "size"} == set(found["communicators"][0])


def test_info_reads_no_events(document, run, copy_of):
    folder = copy_of("ckpt4_linktime")
    whole = document("info", folder)
    for events in folder.glob("traces/*.evt"):
        events.unlink()
    done = run("info", folder, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert {**json.loads(done.stdout), "provenance": None} == {**whole, "provenance": None}


def test_a_layer_of_handles_is_picked_as_it_is(document, fixtures):
    everything = document("handles", fixtures / "ncckpt4")["handles"]
    picked = document("handles", fixtures / "ncckpt4", "--layer", "HDF5", "--layer", "POSIX")["handles"]
    assert picked == [handle for handle in everything if handle["layer"] in ("HDF5", "POSIX")]
    assert 0 < len(picked) < len(everything)


def test_the_view_of_handles_has_the_layer_only(run, fixtures):
    text = run("handles", fixtures / "ncckpt4", "--layer", "HDF5").stdout
    tree = text.split("\n\n")[1].splitlines()[1:]
    assert len(tree) == 2
    assert all(line.startswith("HDF5 /scratch/") for line in tree)
    assert "Set aside" not in text


def test_what_is_set_aside_is_the_same_in_layers_and_periods(document, fixtures):
    aside = document("periods", fixtures / "ckpt4")["set_aside"]
    assert aside["operations"] > 0
    assert aside == document("layers", fixtures / "ckpt4")["set_aside"]


def test_info_has_nothing_that_no_trace_tells(document, run, fixtures):
    assert "program" not in document("info", fixtures / "ncckpt4")
    assert not any(line.startswith("program") for line in run("info", fixtures / "ncckpt4").stdout.splitlines())


def test_too_few_samples_are_told_in_a_sentence(document, fixtures):
    options = ("--layer", "MPI-IO", "--direction", "write", "--method", "ftio", "--fs", "0.01")
    (entry,) = document("periods", fixtures / "ior384", *options)["layers"]
    assert entry["sampling"]["samples"] == 1
    few = "Too few samples (1): a frequency can reach a z-score of 3 only from 20 samples on."
    assert entry["reason"] == f"{few} {entry['evidence']['aliasing']}"
