"""Schedules of made jobs under all policies in whole, as stored."""

import pytest

JOBS = "\n".join(["job,period_s,io_share", "a,10,0.3", "b,20,0.3", "c,11,0.5", "d,300,0.2", "e,1.5,0.6"])
OPTIONS = (
    ["--iterations", "3"],
    ["--random-start", "--seed", "3"],
    ["--error", "0.5", "--runs", "3"],
    ["--window", "10:60"],
)


@pytest.mark.parametrize("options", OPTIONS)
def test_schedules_are_those_stored(held, printed, tmp_path, options):
    (tmp_path / "jobs.csv").write_text(JOBS)
    name = options[0].strip("-")
    found = printed("schedule", tmp_path / "jobs.csv", *options, "--json")
    held(name, [found, printed("schedule", tmp_path / "jobs.csv", *options)], skipped=("version", "created"))


def test_recorded_jobs_are_those_stored(held, printed, fixtures):
    names = [fixtures / name for name in ("ckpt4", "ckpt4_jitter", "mixed4")]
    held("recorded", printed("schedule", *names, "--json"), skipped=("version", "created"))
