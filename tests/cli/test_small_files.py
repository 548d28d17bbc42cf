"""A job of small files: what its opens, closes, deletions and transfers took, against what otf2-print prints."""

import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "fixtures" / "small_files2"
EVENT = re.compile(r"([A-Z_]+) +(\d+) +(\d+)  (.*)$")
KINDS = {
    "IO_CREATE_HANDLE": "opens",
    "IO_DESTROY_HANDLE": "closes",
    "IO_DELETE_FILE": "deletions",
    "READ": "reads",
    "WRITE": "writes",
}
FUNCTIONS = {"opens": "open", "closes": "close", "deletions": "unlink", "reads": "read", "writes": "write"}
pytestmark = pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print, the independent count")


@pytest.fixture(scope="module")
def printed() -> tuple[Counter[str], Counter[str], Counter[tuple[str, str]]]:
    """Count calls by kind, and add up their ticks from Enter to Leave, by kind and by kind and location.

    A call is of the kind of its first event on one of the program's items; none of these calls another.
    """
    anchor = FOLDER / "traces.otf2"
    text = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True).stdout
    items = set(re.findall(r'^IO_REGULAR_FILE +(\d+)  Name: "[^"]*/items/item\.', text, re.MULTILINE))
    handle_file = dict(re.findall(r'^IO_HANDLE +(\d+)  .*?File: "[^"]*" <(\d+)>', text, re.MULTILINE))
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    calls: Counter[str] = Counter()
    ticks: Counter[str] = Counter()
    by_location: Counter[tuple[str, str]] = Counter()
    entered: dict[str, list[int]] = defaultdict(list)
    about: dict[str, str] = {}
    for line in text.splitlines():
        if not (found := EVENT.match(line)):
            continue
        record, location, time, rest = found[1], found[2], int(found[3]), found[4]
        if record == "ENTER":
            entered[location].append(time)
        elif record == "LEAVE":
            begin = entered[location].pop()
            if kind := about.pop(location, None):
                calls[kind] += 1
                ticks[kind] += time - begin
                by_location[kind, location] += time - begin
        elif record in ("IO_CREATE_HANDLE", "IO_DESTROY_HANDLE", "IO_DELETE_FILE", "IO_OPERATION_BEGIN"):
            field = "File" if record == "IO_DELETE_FILE" else "Handle"
            number = re.search(rf'{field}: "[^"]*" <(\d+)>', rest)[1]  # type: ignore[index]
            if (number if field == "File" else handle_file.get(number)) in items:
                mode = re.search(r"Mode: (\w+)", rest) if record == "IO_OPERATION_BEGIN" else None
                about.setdefault(location, KINDS[mode[1] if mode else record])
    assert not any(entered.values())
    return calls, ticks, by_location


def test_opens_closes_deletions_and_transfers_as_printed(document: Callable[..., Any], printed: Any) -> None:
    calls, ticks, by_location = printed
    assert calls == {"opens": 360, "closes": 360, "deletions": 180, "reads": 180, "writes": 180}
    found = document("layers", FOLDER, "--by", "function")
    told = {one["kind"]: (one["calls"], round(one["summed_s"] * 1e9)) for one in found["metadata_calls"]}
    assert told == {kind: (calls[kind], ticks[kind]) for kind in ("opens", "closes", "deletions")}
    rows = {one["function"]: one for one in found["breakdown"]["rows"]}
    assert set(rows) == set(FUNCTIONS.values())
    for kind, function in FUNCTIONS.items():
        row = rows[function]
        assert row[kind] == row["calls"] == calls[kind]
        # None calls another.
        assert round(row["calls_s"] * 1e9) == round(row["exclusive_s"] * 1e9) == ticks[kind]
    assert round(found["exclusive_s"]["POSIX"] * 1e9) == ticks.total()
    for rank in found["cost"]["ranks"]:
        mine = sum(took for (_, location), took in by_location.items() if int(location) == rank["rank"])
        assert round(rank["io_s"] * 1e9) == mine


def test_the_first_findings_say_what_metadata_takes(document: Callable[..., Any], printed: Any) -> None:
    _, ticks, by_location = printed
    metadata = ("opens", "closes", "deletions")
    worst = max(sum(by_location[kind, location] for kind in metadata) for location in ("0", "1"))
    files, first = document("compare", FOLDER)["findings"][:2]
    assert (files["id"], first["id"]) == ("small-files", "metadata-time")
    assert files["cost_s"] > files["gain_s"][0]
    assert first["evidence"]["metadata_calls"] == 900
    assert round(first["evidence"]["metadata_s"] * 1e9) == sum(ticks[kind] for kind in metadata)
    assert round(first["cost_s"] * 1e9) == worst
    # Operations lie within their calls.
    assert 0.8 * (ticks["reads"] + ticks["writes"]) < first["evidence"]["transfer_s"] * 1e9 < ticks.total() / 2
