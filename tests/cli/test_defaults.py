"""Defaults of options come from a file of the user's, formats and quiet from options that all commands have."""

import csv
import json
from io import StringIO

import pytest
from iostrata.cli import main
from iostrata.export.json.csv_table import MAIN


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """Return a function that writes the user's file."""

    def write(text):
        (tmp_path / "config.toml").write_text(text)
        monkeypatch.setenv("IOSTRATA_CONFIG", str(tmp_path / "config.toml"))

    return write


@pytest.mark.parametrize("layer", ['["POSIX"]', '"POSIX"'])
def test_defaults_are_those_of_the_file_and_an_option_comes_first(layer, configured, fixtures, capsys):
    configured(f'workers = 1\n[layers]\nlayer = {layer}\ndirection = "write"\n')
    assert main(["layers", str(fixtures / "ncckpt4"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(one["layer"], one["direction"]) for one in document["layers"]] == [("POSIX", "write")]
    assert document["provenance"]["options"]["workers"] == 1
    assert main(["layers", str(fixtures / "ncckpt4"), "--json", "--direction", "read"]) == 0
    assert {one["direction"] for one in json.loads(capsys.readouterr().out)["layers"]} == {"read"}


def test_the_usual_place_is_below_the_home_folder(tmp_path, monkeypatch, fixtures, capsys):
    monkeypatch.delenv("IOSTRATA_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "iostrata").mkdir()
    (tmp_path / "iostrata" / "config.toml").write_text('[layers]\ndirection = "read"\n')
    assert main(["layers", str(fixtures / "ncckpt4"), "--json"]) == 0
    assert {one["direction"] for one in json.loads(capsys.readouterr().out)["layers"]} == {"read"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("workerz = 1", "no command has an option --workerz"),
        ("[layerz]\n", "[layerz] is no command"),
        ("[layers]\nphases = true", "layers has no option --phases"),
        ("[layers]\ndirection = 'up'", "'up' is not one of"),
        ("workers = ", "cannot use"),
        pytest.param("a = " + "[" * 100_000, "cannot use", id="deep"),
        ("layers = 3", "no command has an option --layers"),
        ("workers = [1, 2]", "'[1, 2]' is not a valid integer"),
        ("quiet = 5", "'5' is not a valid boolean"),
        ("quiet = 2020-01-01", "'2020-01-01' is not a valid boolean"),
    ],
)
def test_what_is_misspelt_in_the_file_is_wrong_usage(text, told, configured, fixtures, capsys):
    configured(text)
    assert main(["layers", str(fixtures / "ncckpt4")]) == 2
    assert told in capsys.readouterr().err
    assert main(["layers", "--help"]) == 0


@pytest.mark.parametrize("name", sorted(set(MAIN) - {"assess", "diff", "schedule", "signature"}))
def test_csv_has_the_rows_of_the_document(name, fixtures, capsys):
    assert main([name, str(fixtures / "ncckpt4"), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)[MAIN[name]]
    assert main([name, str(fixtures / "ncckpt4"), "--format", "csv"]) == 0
    table = list(csv.DictReader(StringIO(capsys.readouterr().out)))
    assert len(table) == len(rows) > 0
    for found, row in zip(table, rows, strict=True):
        plain = {key: value for key, value in row.items() if isinstance(value, str | float | int | None)}
        assert len(plain) > 2
        for key, value in plain.items():
            shown = json.dumps(value) if isinstance(value, bool) else "" if value is None else str(value)
            assert found[key] == shown


def test_csv_of_a_named_table_and_of_what_is_no_table(fixtures, capsys):
    archive = str(fixtures / "ncckpt4")
    assert main(["layers", archive, "--format", "csv:layers", "--direction", "write"]) == 0
    told = capsys.readouterr().out
    assert "request_bytes.p50" in told.splitlines()[0].split(",")
    assert main(["compare", archive, "--format", "csv:nothing"]) == 1
    assert "it has pairs" in capsys.readouterr().err
    assert main(["convert", archive, "x.h5", "--format", "csv"]) == 2
    assert "convert prints no table" in capsys.readouterr().err
    assert main(["layers", archive, "--json", "--format", "csv"]) == 2


def test_quiet_leaves_errors_alone_on_stderr(fixtures, capsys):
    damaged = str(fixtures / "broken_race_corruption")
    assert main(["layers", damaged]) == 0
    assert "warning" in capsys.readouterr().err
    assert main(["layers", damaged, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["layers", "nothing-here", "-q"]) == 1
    assert "error" in capsys.readouterr().err


def test_a_rank_is_one_of_the_parts_by_rank(fixtures, capsys):
    archive = str(fixtures / "ncckpt4")

    def found(*given):
        assert main([*given, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    table = found("layers", archive, "--by", "rank")["breakdown"]
    one = found("layers", archive, "--rank", "2")["breakdown"]
    assert one["rows"] == [row for row in table["rows"] if row["rank"] == 2]
    assert len(one["rows"]) > 2
    parts = found("periods", archive, "--rank", "2", "--layer", "netCDF")["layers"]
    assert {(part["by"], part["part"]) for part in parts} == {("rank", 2)}
    assert main(["layers", archive, "--rank", "2", "--format", "csv"]) == 0
    rows = list(csv.DictReader(StringIO(capsys.readouterr().out)))
    assert [(row["layer"], row["writes"]) for row in rows] == [
        (row["layer"], str(row["writes"])) for row in one["rows"]
    ]
    for given in (["layers", archive, "--rank", "9"], ["periods", archive, "--rank", "9"]):
        assert main(given) == 1
        assert "rank 9" in capsys.readouterr().err
    assert main(["layers", archive, "--rank", "1", "--by", "file"]) == 2
