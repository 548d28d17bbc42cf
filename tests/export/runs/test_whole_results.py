"""What is printed of many runs, and the pages of them, as stored."""

import json
import re

import pytest

COMMANDS = {
    "diff": ["ncckpt4", "ncckpt4_nofill"],
    "assess": ["ckpt4", "ncckpt4", "mixed4", "--segment", "0.1"],
    "signature": ["ckpt4", "ckpt4_linktime", "ckpt4_tsc"],
    "schedule": ["ckpt4", "ckpt4_jitter", "mixed4"],
}


def paths(fixtures, arguments):
    return [fixtures / one if (fixtures / one).is_dir() else one for one in arguments]


@pytest.mark.parametrize("command", COMMANDS)
def test_lines_are_those_stored(held, printed, fixtures, command):
    lines = printed(command, *paths(fixtures, COMMANDS[command]))
    held(
        command,
        [lines, printed(command, *paths(fixtures, COMMANDS[command]), "--json")],
        skipped=("version", "created"),
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_screen_is_what_is_stored_and_no_line_is_too_wide(held, on_a_screen, fixtures, command):
    lines = on_a_screen(command, *paths(fixtures, COMMANDS[command]))
    held(f"{command}_on_a_screen", lines)


def page_of(path):
    found = re.search(r'<script type="application/json" id="contents">(.*?)</script>', path.read_text())
    return json.loads(found[1])


UNSTORED = ("version", "created", "provenance", "read_at")


def test_contents_of_a_page_of_runs_are_those_stored(held, printed, fixtures, tmp_path):
    runs = paths(fixtures, ("ckpt4", "ckpt4_jitter", "ncckpt4"))
    printed("collect", *runs, "-o", tmp_path / "runs", "--workers", "1", "-q")
    printed("report", tmp_path / "runs", "-o", tmp_path / "a.html", "-q")
    held("page", page_of(tmp_path / "a.html"), skipped=UNSTORED)


@pytest.mark.parametrize("command", ["diff", "assess", "signature"])
def test_contents_of_other_pages_are_those_stored(held, printed, fixtures, tmp_path, command):
    printed(command, *paths(fixtures, COMMANDS[command]), "-o", tmp_path / "a.html", "-q")
    held(f"{command}_page", page_of(tmp_path / "a.html"), skipped=UNSTORED)
