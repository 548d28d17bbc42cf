"""Layers that counters alone tell, beside those of operations."""

from types import SimpleNamespace

from iostrata import open_trace
from iostrata.analysis.comparison import side_by_side


def test_a_layer_that_no_recorder_with_counters_knows_comes_last(tmp_path, monkeypatch):
    """An archive may say that it was made of a log, whatever its layers are called."""
    (tmp_path / "run.csv").write_text(
        "layer,rank,mode,start,end,bytes,file\nmine,0,write,0,1,9,/a\nPOSIX,0,write,1,2,9,/a"
    )
    alone = [SimpleNamespace(layer="HDF5", direction="write")]
    monkeypatch.setattr(side_by_side, "counted_statistics", lambda *_: alone)
    found = side_by_side._statistics(open_trace(tmp_path / "run.csv"), ("write",))
    assert list(found) == ["HDF5", "POSIX", "mine"]
