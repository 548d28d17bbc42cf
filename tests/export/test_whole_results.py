"""Tables and documents for other tools in whole, as stored."""

import json

import pandas as pd
import pytest
from iostrata import open_trace, write_ftio, write_parquet


@pytest.mark.parametrize("name", ["ckpt4", "mixed4", "ncckpt4", "small_files2"])
def test_files_are_those_stored(held, fixtures, tmp_path, name):
    pytest.importorskip("pyarrow")
    trace = open_trace(fixtures / name)
    write_parquet(trace, tmp_path / "a.parquet")
    write_ftio(trace, tmp_path / "a.ftio.jsonl")
    lines = [json.loads(one) for one in (tmp_path / "a.ftio.jsonl").read_text().splitlines()]
    held(name, {"table": pd.read_parquet(tmp_path / "a.parquet"), "ftio": lines}, skipped=("version", "created"))
