"""``iostrata periods --signal`` and ``--by``."""

import pytest


@pytest.mark.parametrize("quantity", ["bandwidth", "operations", "metadata", "in-flight"])
def test_every_signal_by_every_key(document, fixtures, quantity):
    whole = document("periods", fixtures / "ncckpt4", "--signal", quantity)["layers"]
    name = "bytes" if quantity == "bandwidth" else "volume"
    assert whole
    assert all(entry["signal"] == quantity for entry in whole)
    for by in ("file", "rank"):
        parts = document("periods", fixtures / "ncckpt4", "--signal", quantity, "--by", by)["layers"]
        for entry in whole:
            some = [p for p in parts if (p["layer"], p["direction"]) == (entry["layer"], entry["direction"])]
            assert sum(part[name] for part in some) == pytest.approx(entry[name], rel=1e-9)


def test_bandwidth_is_what_is_shown_without_the_option(document, fixtures):
    usual = document("periods", fixtures / "ckpt4_linktime")
    assert usual == document("periods", fixtures / "ckpt4_linktime", "--signal", "bandwidth")
    assert {entry["signal"] for entry in usual["layers"]} == {"bandwidth"}


def test_parts_beyond_the_number_are_named(document, fixtures):
    found = document("periods", fixtures / "ior384", "--by", "rank", "--parts", "3", "--direction", "write")
    assert len(found["layers"]) == 3
    assert len(found["not_analysed"]) == 381
    named = {entry["part"] for entry in (*found["layers"], *found["not_analysed"])}
    assert named == set(range(384))


def test_the_terminal_shows_eight_parts_and_counts_the_rest(run, fixtures):
    done = run("periods", fixtures / "ior384", "--by", "rank", "--direction", "write")
    assert done.returncode == 0
    assert done.stdout.count("MPI-IO write, rank ") == 8
    assert "MPI-IO write: 376 further ranks with 63.1 GB not analysed" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--parts", "3"], "needs --by"),
        (["--by", "rank", "--parts", "0"], "--parts"),
        (["--by", "colour"], "--by"),
        (["--signal", "colour"], "--signal"),
        (["--signal", "metadata", "--direction", "read"], "neither --direction nor --traffic"),
        (["--signal", "metadata", "--traffic", "own"], "neither --direction nor --traffic"),
        (["--signal", "operations", "--memory", "1G"], "--memory keeps bytes in bins of time, and --signal needs"),
    ],
)
def test_wrong_usage_is_told(run, fixtures, options, message):
    done = run("periods", fixtures / "ckpt4_linktime", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
