"""A trace whose events are centuries apart: every command takes the coarser grid that holds it, and says so."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from otf2 import IoOperationMode, IoParadigmClass, IoParadigmFlag, LocationGroupType, writer
from otf2.enums import IoAccessMode, IoHandleFlag

APART = 4 * 10**9
MOST_BINS = 2**17


@pytest.fixture
def far_apart(tmp_path: Path) -> Path:
    """Write four operations of a tick each, 4·10^9 s apart by a clock of 1 Hz."""
    folder = tmp_path / "trace"
    with writer.open(str(folder), archive_name="traces", timer_resolution=1) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        group = definitions.location_group("MPI Rank 0", LocationGroupType.PROCESS, node)
        paradigm = definitions.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        file = definitions.io_regular_file("/scratch/out", node)
        handle = definitions.io_handle("", file, paradigm, IoHandleFlag.NONE, None, None)
        events = trace.event_writer("thread", group=group)
        events.io_create_handle(1, handle, IoAccessMode.READ_WRITE, 0, 0)
        for number in range(4):
            events.io_operation_begin(1 + number * APART, handle, IoOperationMode.WRITE, 0, 1000, number)
            events.io_operation_complete(2 + number * APART, handle, 1000, number)
    return folder


@pytest.mark.parametrize("command", ["layers", "handles", "periods", "compare", "overview"])
@pytest.mark.parametrize("options", [(), ("--memory", "500M")])
def test_what_is_told_is_whole(
    run: Callable[..., Any], far_apart: Path, command: str, options: tuple[str, ...]
) -> None:
    if command == "overview" and options:
        return
    done = run(command, far_apart, "--json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["trace"]["duration_s"] == 3 * APART + 1


@pytest.mark.parametrize(
    "command",
    [
        "convert {trace} {out}.h5",
        "convert {trace} {out}.parquet",
        "convert {trace} {out}.perfetto.json",
        "report {trace} -o {out}.html",
        "periods {trace} --plot {out}.svg",
    ],
)
def test_what_is_written_has_as_many_bins_as_any(
    run: Callable[..., Any], far_apart: Path, tmp_path: Path, command: str
) -> None:
    done = run(*(part.format(trace=far_apart, out=tmp_path / "x") for part in command.split()), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    written = found.get("output") or found["plot"]
    assert Path(written["path"]).stat().st_size == written["bytes"] < 2 * 10**6
    if "bins" in written:
        assert written["bins"] <= MOST_BINS
        assert written["fs_hz"] * (3 * APART + 1) == pytest.approx(written["bins"], rel=1e-3)
