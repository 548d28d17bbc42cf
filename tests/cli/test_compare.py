"""`compare` and `layers --by`: the documents, and that the views say the same."""

import json
import re
import shutil
import subprocess

import pytest

PAIR_KEYS = {
    "upper", "lower", "adjacent", "direction", "upper_bytes", "lower_bytes", "attributed_bytes", "inferred_bytes",
    "hidden_bytes", "amplification", "attributed_amplification", "fan_out", "writers_upper", "writers_lower",
    "contained_s", "lag_s", "coherence", "verdict",
}  # fmt: skip
VERDICTS = {"same", "harmonic", "smeared", "split", "absent-below", "absent-above", "none"}

KEYS = {"id", "severity", "layer", "text", "cost_s", "cost_share", "gain_s", "gain_reason", "evidence", "advice"}


def pair(document, upper, lower, direction):
    (one,) = (
        one for one in document["pairs"] if (one["upper"], one["lower"], one["direction"]) == (upper, lower, direction)
    )
    return one


@pytest.mark.parametrize("name", ["ncckpt4", "nonblocking4", "ckpt4_linktime", "ior384", "broken_race_corruption"])
def test_the_document_has_what_was_promised(document, fixtures, name):
    found = document("compare", fixtures / name)
    assert next(iter(found)) == "schema_version"
    for one in found["pairs"]:
        assert one.keys() >= PAIR_KEYS
        assert one["verdict"] in VERDICTS
        inside = one["attributed_bytes"] + one["hidden_bytes"]
        assert inside <= one["lower_bytes"] <= inside + one["inferred_bytes"]
        if one["upper_bytes"]:
            assert one["amplification"] == pytest.approx(one["lower_bytes"] / one["upper_bytes"])
        else:
            assert one["amplification"] is None
    for one in found["balance"]:
        parts = (one[f"{part}_bytes"] for part in ("attributed", "inferred", "hidden", "set_aside"))
        assert sum(parts) == one["bytes"]
    for one in found["findings"]:
        assert one.keys() == KEYS


def test_checkpoints_by_netcdf(document, fixtures):
    found = document("compare", fixtures / "ncckpt4")
    one = pair(found, "netCDF", "POSIX", "write")
    assert one["amplification"] == pytest.approx(2.0, abs=1e-3)
    assert one["attributed_amplification"] == pytest.approx(1.0, abs=1e-3)
    assert (one["adjacent"], one["writers_upper"], one["writers_lower"]) == (False, 4, 1)
    assert one["verdict"] == "same"
    assert one["coherence"] > 0.9
    assert 0 < one["lag_s"] < 0.01
    assert {"write-amplification", "fill-values", "funnelled-collective"} <= {f["id"] for f in found["findings"]}
    assert any(one["kind"] == "without-parent" and one["layer"] == "MPI-IO" for one in found["hidden"])


def test_no_pairs_without_a_lower_layer(document, fixtures):
    found = document("compare", fixtures / "ckpt4_linktime")
    assert not [one for one in found["pairs"] if one["upper"] == "MPI-IO"]
    assert "missing-lower-layer" in {one["id"] for one in found["findings"]}


def test_layers_directions_and_windows(document, fixtures):
    found = document("compare", fixtures / "ncckpt4", "--layer", "MPI-IO", "--layer", "POSIX", "--direction", "write")
    assert [(one["upper"], one["lower"], one["direction"]) for one in found["pairs"]] == [("MPI-IO", "POSIX", "write")]
    # The fill values are over before 0.4 s.
    late = document("compare", fixtures / "ncckpt4", "--window", "0.4:")
    assert pair(late, "netCDF", "POSIX", "write")["amplification"] == pytest.approx(1.0, abs=1e-3)
    assert "fill-values" not in {one["id"] for one in late["findings"]}


def test_the_view_says_the_same(run, fixtures):
    done = run("compare", fixtures / "ncckpt4", PYTHONIOENCODING="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("netCDF ⇢ POSIX") and " 168 MB " in line)
    assert "2.00" in line
    assert "rank 0: 100 %" in line
    assert "fill-values" in done.stdout
    assert "H5D_FILL_TIME_NEVER" in done.stdout


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_the_view_fits_the_terminal(run_on_terminal, fixtures, columns):
    import re

    text = run_on_terminal(columns, "compare", fixtures / "ncckpt4")
    text += run_on_terminal(columns, "layers", fixtures / "ncckpt4", "--by", "node")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert max(map(len, plain.splitlines())) <= columns
    table = plain[plain.rindex("\nlayer ") :].splitlines()[1:]
    # Columns that do not fit are left out and named; no number is cut.
    assert all("…" not in line[20:] for line in table)
    assert ("Too narrow for: " in " ".join(table)) is (columns < 160)
    assert "mean while busy" not in plain.replace("\n", " ").split("Hidden")[-1]


@pytest.mark.parametrize("by", ["file", "stream", "filesystem", "rank", "node", "handle"])
def test_layers_by(document, run, fixtures, by):
    found = document("layers", fixtures / "nonblocking4", "--by", by)
    table = found["breakdown"]
    assert table["by"] == by
    for layer in ("MPI-IO", "ISOC", "POSIX"):
        written = sum(row["bytes_written"] for row in table["rows"] if row["layer"] == layer)
        (entry,) = (one for one in found["layers"] if (one["layer"], one["direction"]) == (layer, "write"))
        assert written == entry["bytes"]
    keys = [(row["layer"], row[by]) for row in table["rows"]]
    assert len(keys) == len(set(keys))
    done = run("layers", fixtures / "nonblocking4", "--by", by)
    assert done.returncode == 0
    assert "closes" in done.stdout


def test_layers_by_one_layer(document, fixtures):
    rows = document("layers", fixtures / "ncckpt4", "--by", "rank", "--layer", "POSIX")["breakdown"]["rows"]
    assert {row["layer"] for row in rows} == {"POSIX"}
    assert json.dumps(rows)


def test_wrong_usage(run, fixtures):
    assert run("layers", fixtures / "ckpt4", "--by", "colour").returncode == 2
    assert run("compare", fixtures / "ckpt4", "--layer", "none").returncode == 1
    assert run("compare", fixtures / "nothing").returncode == 1


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")
def test_flushes_have_a_share_in_where_the_time_goes(document, run, fixtures):
    text = subprocess.run(
        ["otf2-print", str(fixtures / "ncckpt4" / "traces.otf2")], check=True, capture_output=True, text=True
    ).stdout
    begun, flushes, flushed, until = {}, [], 0, 0
    pattern = (
        r"^IO_OPERATION_(BEGIN|COMPLETE) +(\d+) +(\d+)  Handle: .* <(\d+)>,(?: Mode: (\w+),)?.*Matching Id: (\d+)$"
    )
    handles = {
        handle["id"]
        for handle in document("handles", fixtures / "ncckpt4")["handles"]
        if handle["layer"] == "HDF5" and handle["set_aside"] is None
    }
    for kind, location, time, handle, mode, matching in re.findall(pattern, text, re.MULTILINE):
        if int(handle) in handles and kind == "BEGIN" and mode == "FLUSH":
            begun[location, handle, matching] = int(time)
        elif kind == "COMPLETE" and (location, handle, matching) in begun:
            flushes.append((begun.pop((location, handle, matching)), int(time)))
    for begin, end in sorted(flushes):
        flushed += max(0, end - max(begin, until))
        until = max(until, end)
    times = {entry["layer"]: entry for entry in document("compare", fixtures / "ncckpt4")["flush_time"]}
    assert times["HDF5"]["flush_s"] == pytest.approx(flushed / 1e9)
    assert flushed > 0
    assert times["HDF5"]["busy_s"] > times["HDF5"]["flush_s"]
    assert "HDF5 flush " in run("compare", fixtures / "ncckpt4").stdout


def test_access_patterns_are_told_of_plain_reads_and_writes_too(run, document, fixtures):
    found = {one["direction"]: one for one in document("compare", fixtures / "serial1")["access"]}
    write = found["write"]
    assert (write["layer"], write["operations"]) == ("POSIX", 192)
    assert write["operations"] == write["consecutive"] + write["strided"] + write["random"]
    assert 0 < write["backward"] <= write["strided"] + write["random"]
    text = run("compare", fixtures / "ncckpt4").stdout
    assert "POSIX write below MPI-IO 125 requests: 65 % consecutive, 35 % random" in text
