"""What goes from one recorder's files through Parquet and OTF2 comes back as it was, operation by operation."""

import os
import subprocess
from collections import Counter
from pathlib import Path

import iostrata
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata.cli import main
from iostrata.model.codes import UNDEFINED_TIME

pytest.importorskip("pyarrow.parquet")

FIXTURES = Path(__file__).parents[2] / "fixtures"
ARCHIVES = sorted(anchor.parent.name for anchor in FIXTURES.glob("*/traces.otf2"))
RECORDERS = Path(os.environ.get("IOSTRATA_RECORDERS", "/work/shared/recorders"))
MEMORY = ((), ("--memory", "400M"))
IDS = ("full", "memory")


def lineage(definitions):
    """Return, of each handle and for none, the layers and files of it and of all handles above it."""
    handles, files = definitions.handles, definitions.files.name
    found = []
    for row in range(len(handles.id)):
        chain = []
        while row >= 0:
            file, paradigm = int(handles.file[row]), int(handles.paradigm[row])
            chain.append((definitions.paradigms[paradigm].identification, files[file] if file >= 0 else None))
            row = int(handles.parent[row])
        found.append(tuple(chain))
    return [*found, ()]


def operations_of(path):
    """Return how often there is each operation, by all of it that is no number of a row."""
    trace = iostrata.open_trace(path, files="all")
    assert not trace.damage.damaged
    definitions, operations = trace.definitions, trace.operations
    chains, groups, locations = lineage(definitions), definitions.groups, definitions.locations
    tree = definitions.system_tree.name
    columns = (
        [chains[row] for row in operations.handle.tolist()],
        [int(groups.rank[row]) for row in operations.process.tolist()],
        [tree[groups.node[row]] for row in operations.process.tolist()],
        [locations.name[row] for row in operations.location.tolist()],
        operations.begin.tolist(),
        np.where(operations.end == UNDEFINED_TIME, -1, operations.end).tolist(),
        *(getattr(operations, name).tolist() for name in ("mode", "flags", "requested", "moved", "offset", "status")),
    )
    return Counter(zip(*columns, strict=True))


def convert(source, target, *options):
    assert main(["convert", str(source), str(target), *options]) == 0
    return target


def silent(anchor):
    """Let otf2-print read all of an archive."""
    done = subprocess.run(["otf2-print", anchor], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    assert done.stderr == b""
    return anchor


@pytest.mark.parametrize("options", MEMORY, ids=IDS)
@pytest.mark.parametrize("name", ARCHIVES)
def test_otf2_to_parquet_to_otf2(tmp_path, capsys, name, options):
    table = convert(FIXTURES / name, tmp_path / "x.parquet", *options)
    again = silent(convert(table, tmp_path / "x.otf2", *options))
    trace = iostrata.open_trace(FIXTURES / name, files="all")
    if trace.damage.damaged:
        pytest.skip("operations of damaged archives are compared elsewhere")
    assert operations_of(again) == operations_of(table) == operations_of(FIXTURES / name)
