"""Scores of recordings and of made tables in whole, as stored."""

import json

import numpy as np
import pytest

OPTIONS = (["--segment", "0.4"], ["--critical", "2"], ["--order", "io-intensity"], ["--intensive", "2"])


@pytest.mark.parametrize("options", [[], *OPTIONS])
def test_scores_of_recordings_are_those_stored(held, printed, fixtures, options):
    names = [fixtures / name for name in ("ckpt4", "ckpt4_jitter", "mixed4", "ncckpt4", "small_files2")]
    name = options[0].strip("-") if options else "plain"
    segment = [] if "--segment" in options else ["--segment", "0.1"]
    found = printed("assess", *names, *segment, *options, "--json")
    held(name, [found, printed("assess", *names, *segment, *options)], skipped=("version", "created", "provenance"))


def test_limits_are_those_stored(held, printed, tmp_path):
    random = np.random.default_rng(4)
    lines = ["job,node,filesystem,metric,time,value"]
    for job in range(9):
        for node in range(1 + job % 3):
            for metric in ("read_calls", "md_mod", "write_bytes"):
                values = random.lognormal(job / 4, 2, 50)
                lines += [f"j{job},n{node},fs,{metric},{1000 * job + 5 * k},{v}" for k, v in enumerate(values)]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    options = ["--segment", "60"]
    trained = printed("assess", tmp_path / "table.csv", "--train", "-o", tmp_path / "limits.json", *options)
    found = printed("assess", tmp_path / "table.csv", "--limits", tmp_path / "limits.json", *options, "--json")
    held(
        "tables",
        [trained, json.loads((tmp_path / "limits.json").read_text()), found],
        skipped=("version", "created", "provenance"),
    )
