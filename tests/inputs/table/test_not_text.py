"""Tables that hold what is no text, or nothing: one line says so, and nothing of a library reaches the user."""

from pathlib import Path

import pytest
from iostrata.cli import main

pytest.importorskip("pyarrow")
ROWS = b"rank,layer,file,mode,start,end,bytes\n0,POSIX,/a,write,0,1,4096\n0,POSIX,/a\xffb,write,2,3,4096\n"


def test_a_row_of_bytes_that_are_no_text_is_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(ROWS + b"\x9d\n0,POSIX,/a,write,4,5,4096\n")
    assert main(["handles", str(path), "--json"]) == 0
    told = capfd.readouterr()
    assert [line[:18] for line in told.err.splitlines()] == ["iostrata: warning:"]
    assert "1 damaged location" in told.err
    assert "/a\\\\xffb" in told.out


@pytest.mark.parametrize("command", [["layers"], ["periods"], []])
def test_a_table_without_rows_has_no_layers(
    command: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(ROWS.splitlines(keepends=True)[0])
    assert main([*command, str(path)]) in (0, 1)
    assert "Traceback" not in capfd.readouterr().err


def test_a_collection_whose_texts_are_no_text_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import pyarrow
    from iostrata.runs.collection.tables import schema
    from pyarrow import parquet

    table = schema("job").empty_table()
    columns = []
    for field in table.schema:
        bad = pyarrow.array([b"a\xfb"], pyarrow.binary())
        text = pyarrow.StringArray.from_buffers(1, bad.buffers()[1], bad.buffers()[2])
        columns.append(text if field.type == pyarrow.string() else pyarrow.nulls(1, field.type))
    runs = tmp_path / "runs"
    runs.mkdir()
    written = table.schema
    parquet.write_table(pyarrow.Table.from_arrays(columns, schema=written), runs / "job.parquet")
    assert main(["signature", str(runs)]) == 1
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 1
    assert "cannot read the table" in told[0]
