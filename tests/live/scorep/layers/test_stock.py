"""Archives of an unmodified Score-P: what the adapter told of every call adds up to what the programs counted."""

import json
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest

STOCK = Path(__file__).parents[4] / "fixtures" / "stock"
EVENT = re.compile(
    r'(ENTER|LEAVE|PARAMETER_UINT64) +(\d+) +\d+ +(?:Region|Parameter): "([^"]*)" <\d+>(?:, Value: (\d+))?'
)
LAYERS = {"nc_": "netCDF", "H5D": "HDF5", "ncm": "PnetCDF"}


@pytest.mark.parametrize("name", ["hdf5_2", "ncckpt2", "pnetcdf2"])
def test_bytes_of_calls(name: str) -> None:
    if shutil.which("otf2-print") is None:
        pytest.skip("no otf2-print")
    archive = STOCK / name
    text = subprocess.run(["otf2-print", archive / "traces.otf2"], capture_output=True, text=True, check=True).stdout
    regions = defaultdict(list)
    moved: Counter[tuple[str, str]] = Counter()
    for what, location, of, value in EVENT.findall(text):
        if what == "ENTER":
            regions[location].append(of)
        elif what == "LEAVE":
            assert regions[location].pop() == of
        elif of == "iostrata:bytes" and "att" not in (function := regions[location][-1]) and "H5A" not in function:
            direction = "read" if re.search("get|read", function) else "write"
            moved[LAYERS[function[:3]], direction] += int(value)
    truth = json.loads((archive / "truth.json").read_text())["bytes_by_layer_all_ranks"]
    truth.pop("ISOC", None)
    told = {(layer, direction): number for layer, both in truth.items() for direction, number in both.items()}
    assert {key: moved[key] for key in told} == told
