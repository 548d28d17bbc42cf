"""Sums in bounded memory on a Dask cluster: the same as on threads here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from iostrata.cli import main

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Give the address of a cluster of two worker processes, and stop it."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as started:
        yield started.scheduler_address


NAMES = ("ckpt16", "ncckpt4", "nonblocking4", "broken_race_corruption")
COMMANDS = ("layers", "handles", "periods", "compare", "layers --by file", "layers --by function", "loops")


# Each command on a trace, and each trace: the command chooses what is sent and merged, the trace how it is cut.
@pytest.mark.parametrize(
    ("command", "name"),
    [(command, NAMES[row % 4]) for row, command in enumerate(COMMANDS)],
)
def test_documents_are_the_same(command: str, name: str, address: str, fixtures: Path, capsys: Any) -> None:
    found = []
    for more in ((), ("--dask", address)):
        assert main([*command.split(), str(fixtures / name), "--memory", "800M", "--json", *more]) == 0
        found.append({**json.loads(capsys.readouterr().out), "provenance": None})
    assert found[0] == found[1]
