"""What is printed of many runs, and the pages of them, as stored."""

import json
import re

import numpy as np
import pytest

COMMANDS = {
    "diff": ["diff", "ncckpt4", "ncckpt4_nofill"],
    "assess": ["assess", "ckpt4", "ncckpt4", "mixed4", "--segment", "0.1"],
    "signature": ["signature", "ckpt4", "ckpt4_linktime", "ckpt4_tsc"],
    "iosi": ["signature", "ckpt4", "ckpt4_linktime", "ckpt4_tsc", "--method", "iosi"],
    "schedule": ["schedule", "ckpt4", "ckpt4_jitter", "mixed4"],
    "schedules": ["schedule", "ckpt4", "late4", "--runs", "3", "--random-start"],
}


def paths(fixtures, arguments):
    return [fixtures / one if (fixtures / one).is_dir() else one for one in arguments]


@pytest.mark.parametrize("command", COMMANDS)
def test_lines_are_those_stored(held, printed, fixtures, command):
    lines = printed(*paths(fixtures, COMMANDS[command]))
    held(
        command,
        [lines, printed(*paths(fixtures, COMMANDS[command]), "--json")],
        skipped=("version", "created"),
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_screen_is_what_is_stored_and_no_line_is_too_wide(held, on_a_screen, fixtures, command):
    lines = on_a_screen(*paths(fixtures, COMMANDS[command]))
    # Where lines with paths end hangs on how long that of the checkout is.
    if command != "diff":
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


@pytest.mark.parametrize("command", ["diff", "assess", "signature", "iosi"])
def test_contents_of_other_pages_are_those_stored(held, printed, fixtures, tmp_path, command):
    printed(*paths(fixtures, COMMANDS[command]), "-o", tmp_path / "a.html", "-q")
    held(f"{command}_page", page_of(tmp_path / "a.html"), skipped=UNSTORED)


def test_a_page_of_runs_cut_out_of_a_log_is_the_one_stored(held, printed, tmp_path):
    random = np.random.default_rng(5)
    values, jobs = [], ["name,start,end"]
    for run in range(4):
        jobs.append(f"run {run},{1e9 + 2 * len(values)},{1e9 + 2 * len(values) + 1400}")
        own = random.gamma(2.0, 1e7, 700)
        for start in (50, 250, 330, 600):
            own[start : start + 20] += 2e9
        values += [*own, *random.gamma(2.0, 1e7, 50)]
    lines = [f"{1e9 + 2 * place},{value:.0f}" for place, value in enumerate(values)]
    (tmp_path / "log.csv").write_text("\n".join(["time,bytes_per_second", *lines]))
    (tmp_path / "jobs.csv").write_text("\n".join([*jobs, "later,2000000000,2000000100"]))
    log = ["signature", "--log", tmp_path / "log.csv", "--jobs", tmp_path / "jobs.csv"]
    held("log_page", [printed(*log, "-o", tmp_path / "a.html")[:-1], page_of(tmp_path / "a.html")], skipped=UNSTORED)


def test_causes_of_runs_of_a_collection_are_those_stored(held, printed, on_a_screen, fixtures, tmp_path):
    runs = paths(fixtures, ("ckpt4", "ckpt4_jitter", "ncckpt4"))
    printed("collect", *runs, "-o", tmp_path / "runs", "--workers", "1", "-q")
    held("causes", on_a_screen("assess", tmp_path / "runs"))
