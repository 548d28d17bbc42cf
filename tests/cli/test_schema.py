"""`iostrata schema`, and what documents tell of where they come from; all of them are validated where they are read."""

import json
import shutil

import pytest
from iostrata.cli.group import COMMANDS
from iostrata.export.json import schemas
from iostrata.model.version import __version__
from jsonschema import Draft202012Validator

WITHOUT = {"schema", "mcp"}
"""Commands without a document of their own."""


def test_every_command_with_a_document_has_a_schema():
    assert set(schemas.COMMANDS) == set(COMMANDS.names) - WITHOUT


@pytest.mark.parametrize("name", schemas.COMMANDS)
def test_the_schema_is_one(run, name):
    done = run("schema", name)
    assert (done.returncode, done.stderr) == (0, "")
    schema = json.loads(done.stdout)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert __version__ in schema["title"]


def test_a_command_without_a_document_is_wrong_usage(run):
    done = run("schema", "nothing")
    assert done.returncode == 2
    assert "'nothing' prints no document; these do: assess, collect" in done.stderr


def test_a_schema_follows_a_change_of_what_is_declared(run, monkeypatch, fixtures):
    text = run("info", fixtures / "serial1", "--json").stdout
    monkeypatch.setattr(schemas.Provenance, "KEYS", {"version": "program_version"})
    schemas.Provenance._entries.cache_clear()
    check = Draft202012Validator(schemas.command_schema("info"))
    schemas.Provenance._entries.cache_clear()
    assert not check.is_valid(json.loads(text))


def test_a_document_tells_what_made_it_and_of_what(run, copy_of):
    trace = copy_of("serial1")
    given = ("layers", str(trace), "--layer", "POSIX", "--window", ":5", "--json")
    found = json.loads(run(*given).stdout)["provenance"]
    assert (found["program"], found["version"]) == ("iostrata", __version__)
    assert found["command"] == f"iostrata layers {trace} --layer POSIX --window :5 --json"
    assert found["options"]["layers"] == ["POSIX"]
    assert found["options"]["window"] == [None, 5.0]
    assert found["options"]["traffic"] == "all"
    (read,) = found["inputs"]
    assert read["path"] == str(trace)
    assert read["bytes"] == sum(one.stat().st_size for one in trace.rglob("*") if one.is_file())
    assert "first and last 64 KiB" in found["hashed"]


def test_the_hash_is_of_the_content(run, copy_of, tmp_path):
    trace = copy_of("serial1")

    def digest(path):
        return json.loads(run("info", path, "--json").stdout)["provenance"]["inputs"][0]["hash"]

    before = digest(trace)
    again = shutil.copytree(trace, tmp_path / "elsewhere" / trace.name)
    assert digest(again) == before
    events = next(trace.rglob("*.evt"))
    content = bytearray(events.read_bytes())
    content[-1] ^= 1
    events.write_bytes(content)
    assert digest(trace) != before


def test_inputs_of_several_runs_are_all_told(run, fixtures):
    found = json.loads(run("diff", fixtures / "ckpt4", fixtures / "ncckpt4", "--json").stdout)["provenance"]
    assert [one["path"] for one in found["inputs"]] == [str(fixtures / "ckpt4"), str(fixtures / "ncckpt4")]
    assert all(one["hash"] and one["bytes"] for one in found["inputs"])
