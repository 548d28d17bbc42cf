"""What a document says it was made of: hashes that change with what they say they are of, and with nothing else."""

from pathlib import Path

import pytest
from iostrata.export.json.provenance import with_provenance

KIB = 1024


def told(path: Path):
    return with_provenance({"schema_version": 1, "other": 2}, ["info", "a b"], {"window": (0.0, None)}, [path])


def hash_of(path: Path) -> str:
    (found,) = told(path)["provenance"]["inputs"]
    return found["hash"]


def test_it_is_the_second_entry_and_can_be_called_again(tmp_path):
    found = told(tmp_path / "missing")
    assert list(found) == ["schema_version", "provenance", "other"]
    made = found["provenance"]
    assert made["command"] == "iostrata info 'a b'"
    assert made["options"] == {"window": [0.0, None]}
    assert made["inputs"] == [{"path": str(tmp_path / "missing"), "bytes": None, "hash": None}]
    assert "first and last 64 KiB of each, of 1,000 files at most" in made["hashed"]


@pytest.mark.parametrize(
    ("place", "changes"),
    [(0, True), (64 * KIB - 1, True), (64 * KIB, False), (-64 * KIB - 1, False), (-64 * KIB, True)],
)
def test_the_hash_is_of_the_first_and_last_64_kib(tmp_path, place, changes):
    content, path = bytearray(200 * KIB), tmp_path / "trace"
    path.write_bytes(content)
    before = hash_of(path)
    content[place] = 1
    path.write_bytes(content)
    assert (hash_of(path) != before) == changes
    assert told(path)["provenance"]["inputs"][0]["bytes"] == 200 * KIB


def test_files_beyond_the_thousandth_count_for_nothing(tmp_path):
    for number in range(1001):
        (tmp_path / f"{number:04}.pfw").write_text("x")
    (found,) = told(tmp_path)["provenance"]["inputs"]
    assert found["bytes"] == 1000
