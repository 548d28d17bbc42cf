"""Every option of every command changes what comes out or is refused, and none is taken and does nothing."""

import json

import pytest
from iostrata.cli import main
from iostrata.cli.group import COMMANDS
from iostrata.export.exporters import EXPORTERS, OPTIONS
from iostrata.runs import Settings

READING = {
    "window": ("0:1", (0.0, 1.0)),
    "files": ("all", "all"),
    "engine": ("library", "library"),
    "calls": ("off", "off"),
    "workers": ("1", 1),
    "dask": ("tcp://here:1", "tcp://here:1"),
    "memory": ("1G", 10**9),
}
"""Options that say how a trace is read, which all commands hand on to `open_trace`, or to what reads many."""
BASE = {
    "assess": ["ckpt4"],
    "collect": ["ckpt4", "-o", "OUT/runs", "--workers", "1"],
    "diff": ["ckpt4", "ckpt4_linktime", "--json"],
    "report": ["ckpt4", "-o", "OUT/a.html"],
    "schedule": ["OUT/jobs.csv"],
    "signature": ["ckpt4", "ckpt4_linktime"],
    "watch": ["--replay", "ckpt4"],
}
"""What commands are called with; those on one trace with ``ckpt4``."""
OF_A_TRACE = {
    "layers": ["--layer", "POSIX"],
    "direction": ["--direction", "read"],
    "traffic": ["--traffic", "own"],
    "method": ["--method", "ftio"],
    "fs": ["--fs", "3", "--method", "ftio"],
    "brief": ["--brief"],
    "format": ["--format", "json"],
    "picture": ["--plot", "OUT/a.svg"],
    "out": ["-o", "OUT/b.html"],
}
CHANGES = {
    "assess": {
        "train": ["--train", "-o", "OUT/limits.json"],
        "known": ["--limits", "OUT/none.json"],
        "segment": ["--segment", "0.4"],
        "quantiles": ["--quantiles", "0.5,0.9"],
        "critical": ["--critical", "9"],
        "threshold": ["--intensive", "100"],
        "order": ["--order", "io-intensity"],
        "least_duration": ["--least-duration", "100"],
        "accounting": ["--accounting", "OUT/none.txt"],
        "states": ["--accounting", "OUT/jobs.csv", "--state", "COMPLETED"],
        "partitions": ["--accounting", "OUT/jobs.csv", "--partition", "big"],
        "users": ["--accounting", "OUT/jobs.csv", "--user", "ada"],
        "exclusive": ["--accounting", "OUT/jobs.csv", "--exclusive"],
    },
    "collect": {"out": ["-o", "OUT/others"], "segment": ["--segment", "0.4"]},
    "compare": {"above": ["--above", "POSIX"]},
    "diff": {"rules": ["--fail-on", "changed"]},
    "layers": {"by": ["--by", "rank"], "ranks": ["--rank", "1"]},
    "loops": {"iterations": ["--iterations"], "by": ["--by", "stream"]},
    "periods": {
        "by": ["--by", "rank"],
        "ranks": ["--rank", "1"],
        "parts": ["--by", "rank", "--parts", "1"],
        "quantity": ["--signal", "metadata"],
        "phases": ["--phases"],
        "components": ["--components", "2"],
        "filter": ["--filter", "low:1"],
        "order": ["--filter", "low:1", "--order", "2"],
        "false_alarm_rate": ["--false-alarm-rate", "2"],
        "tolerance": ["--method", "ftio", "--tolerance", "0.05", "--json"],
        "skip_first_phase": ["--method", "ftio", "--skip-first-phase"],
        "wavelet": ["--method", "hybrid", "--wavelet", "db4", "--json"],
        "level": ["--method", "hybrid", "--level", "3"],
    },
    "report": {"out": ["-o", "OUT/b.html"], "scores": ["--scores", "x.json"], "each": ["--each"]},
    "schedule": {
        "iterations": ["--iterations", "3"],
        "random_start": ["--random-start"],
        "error": ["--error", "0.5"],
        "runs": ["--runs", "3"],
        "seed": ["--seed", "3"],
        "window": ["--window", "10:60"],
        "out": ["-o", "OUT/sets.json"],
        "layer": ["--layer", "POSIX"],
    },
    "signature": {
        "layer": ["--layer", "POSIX"],
        "direction": ["--direction", "write"],
        "interval": ["--interval", "0.1"],
        "log": ["--log", "x.csv"],
        "jobs": ["--jobs", "x.csv"],
        "method": ["--method", "plain"],
        "gamma": ["--gamma", "0.9"],
        "kappa": ["--kappa", "0.4"],
        "level": ["--level", "4"],
        "known": ["--known", "OUT/none.json"],
    },
    "watch": {
        "metrics": ["--metrics", "OUT/job.prom"],
        "replay": ["--replay", "serial1"],
        "interval": ["--interval", "1"],
        "once": ["--once"],
        "layers": ["--layer", "POSIX"],
        "apart": ["--jobs"],
        "signature": ["--signature", "OUT/none.json"],
    },
}
ELSEWHERE = {
    ("convert", None),
    ("record", None),
    ("mcp", None),
    ("watch", "speed"),
    ("watch", "rules"),
    ("signature", "partial"),
}
"""Exporters declare what they take, recording and alarms have tests of their own, and speed changes when lines come.
Runs of one length are not partial."""
NOT_OF_STDOUT = ("help", "as_json", "quiet")


def options():
    """Return each command with each of its options."""
    return [
        (name, one.name, one.opts[0])
        for name in COMMANDS.names
        for one in COMMANDS.find(name).params
        if one.param_type_name == "option" and one.name not in NOT_OF_STDOUT and (name, None) not in ELSEWHERE
    ]


def of_reading(name, option):
    return option in READING and (name, option) != ("schedule", "window")


@pytest.fixture
def arguments(fixtures, tmp_path):
    """Return a function that puts paths into arguments."""
    rows = ["a,10,0.3", "b,20,0.3", "c,11,0.5"]
    (tmp_path / "jobs.csv").write_text("\n".join(["job,period_s,io_share", *rows]))

    def call(name, more=()):
        given = [*BASE.get(name, ["ckpt4"]), *more]
        return [
            name,
            *(
                str(fixtures / one) if one[:4] in ("ckpt", "seri") else one.replace("OUT", str(tmp_path))
                for one in given
            ),
        ]

    return call


class SeenError(Exception):
    """Carries what a function was called with."""


def seen(*given, **named):
    raise SeenError([vars(one) for one in given if isinstance(one, Settings)], named)


@pytest.mark.parametrize(("name", "option", "flag"), [one for one in options() if of_reading(*one[:2])])
def test_options_of_reading_reach_what_reads(name, option, flag, arguments, monkeypatch):
    for place in ("layers.opening.open_trace", "runs.collection.chosen.read_runs", "export.collection.read_runs"):
        monkeypatch.setattr(f"iostrata.{place}", seen)
    text, value = READING[option]
    given = ["ckpt4"] if name == "schedule" else []
    with pytest.raises(SeenError) as found:
        main([*arguments(name, given), flag, text])
    settings, named = found.value.args
    reached = {name: value for one in (*settings, named) for name, value in one.items()}
    assert reached["client" if option == "dask" else option] == value


@pytest.mark.parametrize(("name", "option", "flag"), [one for one in options() if not of_reading(*one[:2])])
def test_other_options_change_what_comes_out_or_are_refused(name, option, flag, arguments, run, tmp_path):
    if (name, option) in ELSEWHERE:
        return
    more = CHANGES.get(name, {}).get(option) or OF_A_TRACE[option]
    assert flag in more
    less = more[:1] and [one for place, one in enumerate(more) if flag not in more[max(0, place - 1) : place + 1]]
    told = []
    for given in (less, more):
        done = run(*arguments(name, given))
        files = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
        # How it was asked for always differs.
        found = done.stdout
        if "--json" in given and done.returncode == 0 and name != "watch":
            found = {key: value for key, value in json.loads(found).items() if key != "provenance"}
        told.append((done.returncode, found, files))
    assert told[0] != told[1]


def test_exporters_take_all_options_of_convert():
    taken = {name for suffix in EXPORTERS.names for name in EXPORTERS.find(suffix).options}
    assert set(OPTIONS) <= taken


@pytest.mark.parametrize(
    "given",
    [
        ["assess", "--limits", "LIMITS", "--quantiles", "0.5,0.9"],
        ["assess", "--train", "-o", "OUT/limits.json", "--order", "io-intensity"],
        ["assess", "--state", "COMPLETED"],
        ["signature", "--method", "dtw", "--gamma", "0.3"],
        ["signature", "--method", "loops", "--level", "3"],
        ["periods", "--brief", "--json"],
        ["periods", "--fs", "3"],
        ["loops", "--iterations", "--json"],
        ["schedule", "--runs", "3"],
        ["schedule", "--engine", "library"],
    ],
    ids=" ".join,
)
def test_options_that_change_nothing_beside_others_are_refused(given, arguments, capsys):
    assert main(arguments(given[0], given[1:])) == 2
    assert "iostrata: error: --" in capsys.readouterr().err
