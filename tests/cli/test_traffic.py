"""`--traffic`: own and inherited traffic are all of it, and one without anything in it is named."""

import pytest


def test_own_and_inherited_traffic_are_all_of_it(document, fixtures):
    volumes = {}
    for traffic in ("all", "own", "inherited"):
        for entry in document("periods", fixtures / "nonblocking4", "--traffic", traffic)["layers"]:
            assert entry["traffic"] == traffic
            volumes[traffic, entry["layer"], entry["direction"]] = entry["bytes"]
    assert {key[0] for key in volumes} == {"all", "own", "inherited"}
    for (traffic, *place), volume in volumes.items():
        if traffic == "all":
            parts = (volumes.get((part, *place), 0) for part in ("own", "inherited"))
            assert volume == pytest.approx(sum(parts), rel=1e-12)


@pytest.mark.parametrize("archive", ["nonblocking4", "mixed4"])
@pytest.mark.parametrize("direction", ["write", "total"])
def test_layers_of_own_or_inherited_traffic(document, fixtures, archive, direction):
    amounts = {}
    for traffic in ("all", "own", "inherited"):
        options = ("--direction", direction, "--traffic", traffic)
        for entry in document("layers", fixtures / archive, *options)["layers"]:
            assert entry["traffic"] == traffic
            assert entry["operations"] > 0
            amounts[traffic, entry["layer"]] = entry
    nothing = {"operations": 0, "bytes": 0}
    for layer in [layer for traffic, layer in amounts if traffic == "all"]:
        whole = amounts["all", layer]
        own, inherited = (amounts.get((traffic, layer), nothing) for traffic in ("own", "inherited"))
        assert (own["operations"], own["bytes"]) == (whole["own_operations"], whole["own_bytes"])
        assert own["bytes"] + inherited["bytes"] == whole["bytes"]
        assert own["operations"] + inherited["operations"] == whole["operations"]
        assert inherited.get("own_operations", 0) == 0
    assert ("inherited", "POSIX") in amounts
    assert ("own", "MPI-IO") in amounts


@pytest.mark.parametrize("command", ["layers", "periods"])
def test_traffic_without_anything_in_it_is_named(run, fixtures, command):
    done = run(command, fixtures / "ior384", "--traffic", "inherited")
    assert (done.returncode, done.stderr) == (0, "")
    assert "inherited traffic" in done.stdout
