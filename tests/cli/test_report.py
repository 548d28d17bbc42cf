"""``iostrata report``: a page, a line that says so, and the same numbers as the other commands."""

import json
import re
from pathlib import Path
from typing import Any


def contents_of(path: Path) -> Any:
    found = re.search(r'<script type="application/json" id="contents">(.*?)</script>', path.read_text())
    assert found
    return json.loads(found[1])


def test_the_page_is_written_and_one_line_says_so(run, fixtures, tmp_path):
    page = tmp_path / "page.html"
    done = run("report", fixtures / "ckpt4", "-o", page)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.splitlines()[0].startswith(f"wrote {page}: ")
    assert "MPI-IO, ISOC, POSIX" in done.stdout
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_the_document_describes_the_page(document, fixtures, tmp_path):
    page = tmp_path / "page.html"
    described = document("report", fixtures / "ckpt4", "-o", page, "--layer", "POSIX")
    assert next(iter(described)) == "schema_version"
    assert described["output"]["path"] == str(page)
    assert described["output"]["bytes"] == page.stat().st_size
    assert described["output"]["layers"] == ["POSIX"]
    assert {curve["layer"] for curve in contents_of(page)["curves"]} == {"POSIX"}


def test_the_options_act_as_on_the_other_commands(document, run, fixtures, tmp_path):
    page = tmp_path / "page.html"
    options = ("--window", "1:5", "--files", "*ckpt*", "--method", "ftio", "--fs", "20")
    assert run("report", fixtures / "ckpt4", "-o", page, *options).returncode == 0
    contents = contents_of(page)
    expected = document("layers", fixtures / "ckpt4", "--window", "1:5", "--files", "*ckpt*")
    for name in ("cost", "overlap", "exclusive_s"):
        del expected[name]
    # The page tells the sums of the chain, and for whom the others wait longest.
    expected["chain"] |= {"steps": [], "held_up": expected["chain"]["held_up"][:1]}
    assert contents["layers"] == expected
    assert contents["periods"]["layers"] == document("periods", fixtures / "ckpt4", *options)["layers"]
    assert contents["curves"][0]["window_s"] == [1.0, 5.0]


def test_an_older_page_stays_where_the_trace_cannot_be_used(run, fixtures, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("old")
    done = run("report", fixtures / "nothing", "-o", page)
    assert done.returncode == 1
    assert page.read_text() == "old"


def test_a_page_has_the_name_of_a_page(run, fixtures, tmp_path):
    done = run("report", fixtures / "ckpt4", "-o", tmp_path / "page.pdf")
    assert done.returncode == 2
    assert "ends in none of the known suffixes: .html" in done.stderr


def test_without_a_name_the_page_has_that_of_the_trace_and_replaces_none(run, fixtures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("report", fixtures / "serial1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("wrote serial1.html: ")
    written = (tmp_path / "serial1.html").read_bytes()
    again = run("report", fixtures / "serial1" / "traces.otf2")
    assert again.returncode == 2
    assert "serial1.html is there already: name the page, -o OUT.html" in again.stderr
    assert (tmp_path / "serial1.html").read_bytes() == written
