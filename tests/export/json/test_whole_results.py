"""Documents of all commands on a trace in whole, as stored."""

import pytest

COMMANDS = (
    ["overview"],
    ["info"],
    ["layers", "--by", "rank"],
    ["layers", "--by", "file"],
    ["handles"],
    ["periods", "--phases"],
    ["periods", "--signal", "metadata"],
    ["compare"],
    ["loops"],
    ["loops", "--by", "stream"],
)
RECORDINGS = ("ckpt4", "mixed4", "ncckpt4", "small_files2", "stock/hdf5_2", "broken_race_corruption")


@pytest.mark.parametrize("name", RECORDINGS)
def test_documents_are_those_stored(held, printed, fixtures, name):
    found = {" ".join(one): printed(one[0], fixtures / name, *one[1:], "--json") for one in COMMANDS}
    held(name.replace("/", "_"), found, skipped=("version", "created", "provenance"))


@pytest.mark.parametrize("table", ["layers", "handles", "periods", "compare", "loops"])
def test_rows_are_those_stored(held, printed, fixtures, table):
    held(f"rows_of_{table}", [printed(table, fixtures / name, "--format", "csv") for name in ("mixed4", "ncckpt4")])
