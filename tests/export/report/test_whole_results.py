"""What pages hold of recordings in whole, as stored."""

import json
import re
from base64 import b64decode

import numpy as np
import pytest
from iostrata import open_trace, write_report

TYPES = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "i4": "<i4", "f4": "<f4", "f8": "<f8"}


def unpacked(value):
    """Return contents with their packed columns as arrays."""
    if isinstance(value, dict) and {"type", "data"} <= set(value) and value["type"] in TYPES:
        return np.frombuffer(b64decode(value["data"]), TYPES[value["type"]])
    if isinstance(value, dict):
        return {key: unpacked(one) for key, one in value.items() if key not in ("version", "created", "provenance")}
    return [unpacked(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["ckpt4", "mixed4", "ncckpt4", "threads2", "small_files2", "broken_race_corruption"])
def test_contents_are_those_stored(held, fixtures, tmp_path, name):
    write_report(open_trace(fixtures / name), tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    found = re.search(r'<script type="application/json" id="contents">(.*?)</script>', text)
    held(name, unpacked(json.loads(found[1])))
