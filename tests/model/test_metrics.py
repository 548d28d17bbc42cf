"""Metrics are declared once, completely, and views read their values from records."""

from dataclasses import field, fields, is_dataclass
from importlib import import_module
from pkgutil import walk_packages

import iostrata
import pytest
from iostrata.model.document import Record
from iostrata.model.metrics import FORMATS, columns_of, metric, metrics_of
from iostrata.model.recording import CAPABILITIES, Recording

UNITS = {"bytes_per_s": "byte s-1", "bytes": "byte", "_s": "s", "_hz": "Hz"}
"""Units that the ends of names in documents say."""


def records():
    """Return all classes of the package that declare metrics."""
    for module in walk_packages(iostrata.__path__, "iostrata."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    waiting, found = [Record], []
    while waiting:
        classes = waiting.pop().__subclasses__()
        waiting += classes
        found += [one for one in classes if is_dataclass(one) and one.__module__.startswith("iostrata.")]
    return [one for one in found if metrics_of(one)]


def test_every_metric_has_a_sentence_a_unit_and_known_needs():
    classes = records()
    assert {"LayerStatistics", "RequestBytes"} <= {one.__name__ for one in classes}
    for one in classes:
        for each in metrics_of(one):
            where = f"{one.__name__}.{each.name}"
            assert each.sentence[:1].isupper() or not each.sentence[:1].isalpha(), where
            assert each.sentence.endswith("."), where
            assert each.kind in FORMATS, where
            unit = next((unit for suffix, unit in UNITS.items() if each.key.endswith(suffix)), None)
            assert unit in (None, each.unit), where
            assert set(each.needs) <= set(CAPABILITIES), where
            assert each.title, where


def test_metrics_stand_in_the_docstring_of_their_record():
    for one in records():
        for each in metrics_of(one):
            assert each.sentence in one.__doc__, f"{one.__name__} lacks the decorator described"


class Inner(Record):
    """Two sizes."""

    least: int | None = metric("The smaller one.", unit="byte", adds="none")
    most: int = metric("The larger one.", unit="byte", adds="largest")


class Outer(Record):
    """Something that was measured."""

    name: str
    took: float = metric("How long it took.", key="took_s", unit="s", narrow="took")
    sizes: Inner = metric("Sizes asked for.", unit="byte", needs=("operations",))
    part: int = metric("The part that counts.", unit="byte", part_of="whole", default=1)
    whole: int = metric("All of it.", unit="byte", default=4)
    unavailable: frozenset[str] = field(default=frozenset())


def test_columns_are_metrics_with_those_of_inner_records_in_their_place():
    one = Outer("a", 0.0123, Inner(None, 2_000_000))
    assert [each.name for each in columns_of(Outer)] == ["took", "sizes_least", "sizes_most", "part", "whole"]
    assert [each.text(one) for each in columns_of(Outer)] == ["12.3 ms", "–", "2 MB", "25 %", "4 B"]
    assert [each.key for each in columns_of(Outer)][:2] == ["took_s", "sizes_least"]
    assert [each.needs for each in columns_of(Outer)][:2] == [(), ("operations",)]


def test_what_is_unavailable_is_null_in_documents_and_a_dash_for_people():
    one = Outer("a", 1.0, Inner(1, 2), unavailable=frozenset({"sizes"}))
    assert one.to_dict() == {"name": "a", "took_s": 1.0, "sizes": None, "part": 1, "whole": 4}
    assert [each.text(one) for each in columns_of(Outer)][1:3] == ["–", "–"]


def test_the_docstring_is_completed():
    assert "took : s\n        How long it took." in Outer.__doc__


def test_a_metric_of_an_unknown_unit_is_refused():
    with pytest.raises(KeyError):
        metric("In furlongs.", unit="furlong")


@pytest.mark.parametrize("name", CAPABILITIES)
def test_a_recorder_that_lacks_something_gives_the_reason(name):
    capability = CAPABILITIES[name]
    lacking = {"rows": "none", "handles": "absent"}.get(capability.field, False)
    recording = Recording("Somebody", **{capability.field: lacking})
    assert Recording().reason(name) == ""
    assert recording.reason("times", name).startswith("Somebody ")
    assert recording.to_dict()[capability.field] == lacking
    with pytest.raises(iostrata.SelectionError, match=r"x: Somebody .*, which this needs"):
        recording.require("x", "this", name)


def test_every_flag_of_a_recording_is_a_capability():
    flags = {one.name for one in fields(Recording) if one.type in (bool, "bool")} - {"whole_seconds", "processes"}
    assert flags <= {one.field for one in CAPABILITIES.values()}
