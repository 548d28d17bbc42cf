"""Differences between recordings in whole, as stored."""

import pytest
from iostrata.runs import Settings, diff_runs, read_run

PAIRS = (
    ("ckpt4", "ckpt4_jitter"),
    ("ckpt4_linktime", "ckpt4_romio"),
    ("ncckpt4", "ncckpt4_indep"),
    ("ncckpt4", "ncckpt4_nofill"),
    ("mixed4", "late4"),
    ("small_files2", "serial1"),
)


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_differences_are_those_stored(held, fixtures, printed, before, after):
    runs = [read_run(fixtures / name / "traces.otf2", Settings(segment=0.5)) for name in (before, after)]
    forth, back = diff_runs(runs[:1], runs[1:]), diff_runs(runs[1:], runs[:1])
    held(
        f"{before}_{after}",
        {"forth": forth, "back": back, "text": printed("diff", fixtures / before, fixtures / after)},
    )


def test_several_runs_are_those_stored(held, fixtures):
    names = ("ckpt4", "ckpt4_jitter", "ckpt4_linktime", "ckpt4_tsc", "ckpt4_romio")
    runs = [read_run(fixtures / name / "traces.otf2", Settings()) for name in names]
    held("several", [diff_runs(runs[:3], runs[3:]), diff_runs(runs[1:], runs[:1])])
