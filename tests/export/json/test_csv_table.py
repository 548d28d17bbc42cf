"""Lists of documents as CSV, whose lines can be written by hand."""

import csv
from io import StringIO

import pytest
from iostrata import SelectionError
from iostrata.export.json.csv_table import csv_pieces

LAYERS = [
    {"layer": "POSIX", "of": {"min": 1, "none": {}}, "ranks": [0, 1], "known": True},
    {"layer": "µ,x", "of": None},
]


def rows(document, command="layers", name=""):
    return list(csv.reader(StringIO("".join(csv_pieces(document, command, name)))))


def test_a_key_is_a_column_and_a_list_its_json():
    document = {"schema_version": 1, "trace": {"a": 1}, "layers": LAYERS, "flows": [], "names": ["a"]}
    titles, first, second = rows(document)
    assert titles == ["layer", "of.min", "of.none", "ranks", "known", "of"]
    assert first == ["POSIX", "1", "{}", "[0, 1]", "true", ""]
    assert second == ["µ,x", "", "", "", "", ""]
    assert rows(document, name="flows") == []
    with pytest.raises(SelectionError, match="no table 'names'; it has layers, flows"):
        rows(document, name="names")
    with pytest.raises(SelectionError, match="no table 'layers'; it has none"):
        rows({})


def test_a_split_stands_for_the_document_and_another_list_may_be_named():
    document = {"layers": LAYERS, "breakdown": {"by": "rank", "rows": iter([{"rank": 0}])}}
    assert rows(document) == [["rank"], ["0"]]
    document["breakdown"]["rows"] = []
    assert rows(document, name="layers")[0][0] == "layer"
