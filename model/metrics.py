"""Metrics: the quantities that tables, documents, files and pages show, each declared once, beside its value.

A metric is a field of a record that is declared by `metric`: its name is the field's, its value comes with the record,
and all else that views and documentation need stands in the declaration. Terminal, JSON, HDF5 and Parquet attributes,
the page and its glossary, the guide's glossary, collections and `diff` go by `metrics_of` and list nothing themselves.
"""

import functools
from collections.abc import Callable, Hashable
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields, is_dataclass, replace
from typing import Any, Final, Literal, ParamSpec, TypeVar, cast, get_type_hints

from .quantities import (
    bytes_text,
    count_text,
    frequency_text,
    level_text,
    percent_text,
    rate_text,
    seconds_text,
    share_text,
)

Unit = Literal["1", "byte", "s", "byte s-1", "Hz"]
Kind = Literal["count", "number", "share", "bytes", "seconds", "rate", "frequency", "text"]
Adds = Literal["sum", "union", "distinct", "largest", "none"]

KEYS: Final = {
    "after_median": "after_median_s",
    "end": "end_s",
    "frequency": "frequency_hz",
    "fs": "fs_hz",
    "lag": "lag_s",
    "late": "late_s",
    "next_start": "next_start_s",
    "period": "period_s",
    "period_interval": "period_interval_s",
    "recurrence": "recurrence_s",
    "regime_start": "regime_start_s",
    "start": "start_s",
    "time": "time_s",
    "volume": "bytes",
}
"""Names of attributes in Python whose entry in a document has another one, with the unit."""

UNKNOWN: Final = "–"
"""What is shown where a value is not known."""

FORMATS: Final[dict[Kind, Callable[[Any], str]]] = {
    "count": count_text,
    "number": level_text,
    "share": percent_text,
    "bytes": bytes_text,
    "seconds": seconds_text,
    "rate": rate_text,
    "frequency": frequency_text,
    "text": str,
}
"""How each kind of value is written for people."""

_KINDS: Final[dict[Unit, Kind]] = {"1": "count", "byte": "bytes", "s": "seconds", "byte s-1": "rate", "Hz": "frequency"}


@dataclass(frozen=True)
class Metric:
    """The declaration of a quantity.

    Attributes
    ----------
    sentence : str
        What it is, in one sentence.
    path : tuple of str
        The field that holds it; of a record within a record, the fields that lead there.
    key : str
        What it is called in documents and files; differs from the field's name only where the unit is part of it.
    unit : str
        In the notation of UDUNITS; ``1`` for counts, shares and texts.
    title : str
        Heading of its column.
    adds : str
        How the values of parts, ranks or runs combine: ``sum``; ``union`` of times, ``distinct`` things and ``none``
        cannot be combined without what they were made of.
    needs : tuple of str
        What a recorder has to know for it, keys of `iostrata.model.recording.CAPABILITIES`.
    of : callable or None
        Returns the value, given what the record is made of; None where that has it by the field's name, if at all.
    part_of : str
        Name of the metric that it is a part of and is shown as a share of; empty for most.
    narrow : str
        Heading where there is no room for all columns; empty if it is left out there.
    gives_way : int
        Order in which columns are left out where even those with a `narrow` heading do not fit; 0: never.
    column : bool
        Whether tables for people have a column of it; sentences beside them tell the rest.
    kind : str
        How it is written, a key of `FORMATS`, by its unit.
    default : object
        Of the field, where it has one.
    repr : bool
        Whether the field is part of the record's own text.
    """

    sentence: str
    _: KW_ONLY
    path: tuple[str, ...] = ()
    key: str = ""
    unit: Unit = "1"
    title: str = ""
    adds: Adds = "sum"
    needs: tuple[str, ...] = ()
    of: Callable[[Any], Any] | None = None
    part_of: str = ""
    narrow: str = ""
    gives_way: int = 0
    column: bool = True
    default: Any = field(default_factory=lambda: MISSING)
    repr: bool = True
    kind: Kind = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", _KINDS[self.unit])

    @property
    def name(self) -> str:
        """The field that holds it; of a record within a record the names of both, joined."""
        return "_".join(self.path)

    def follows_from(self, made_of: Any) -> bool:
        """Tell whether the value follows from what a record is made of."""
        return self.of is not None or hasattr(type(made_of), self.name)

    def found(self, made_of: Any) -> Any:
        """Return the value, given what a record is made of; None where it does not follow from that."""
        return getattr(made_of, self.name, None) if self.of is None else self.of(made_of)

    def value(self, record: Any) -> Any:
        """Return the value that a record has; None where it is not known, as the recorder does not provide it."""
        if self.path[0] in getattr(record, "unavailable", ()):
            return None
        return functools.reduce(getattr, self.path, record)

    def text(self, record: Any) -> str:
        """Return the value that a record has as people read it."""
        value = self.value(record)
        if value is None:
            return UNKNOWN
        return share_text(value, getattr(record, self.part_of)) if self.part_of else FORMATS[self.kind](value)


Declaration = ParamSpec("Declaration")


def _field_of(make: Callable[Declaration, Metric]) -> Callable[Declaration, Any]:
    """Return what makes a field of a dataclass that is declared by what `make` makes of the same parameters."""

    def declared(*sentence: Declaration.args, **parameters: Declaration.kwargs) -> Any:
        one = make(*sentence, **parameters)
        return field(default=one.default, repr=one.repr, metadata={"metric": one})

    return declared


metric: Final = _field_of(Metric)
"""Declare a field of a dataclass as a metric; the parameters are attributes of `Metric`."""


def metrics_of(record: type) -> tuple[Metric, ...]:
    """Return the metrics that a class of records declares, in the order of its fields."""
    return _metrics_of(cast(Hashable, record))


@functools.cache
def _metrics_of(record: Any) -> tuple[Metric, ...]:
    found = []
    for one in fields(record):
        if declared := one.metadata.get("metric"):
            key = declared.key or KEYS.get(one.name, one.name)
            title = declared.title or one.name.removesuffix("_s").replace("_", " ")
            found.append(replace(declared, path=(one.name,), key=key, title=title))
    return tuple(found)


def columns_of(record: type) -> tuple[Metric, ...]:
    """Return the metrics of a class of records, with those of records within it in the place of these."""
    return _columns_of(cast(Hashable, record))


@functools.cache
def _columns_of(record: Any) -> tuple[Metric, ...]:
    found: list[Metric] = []
    hints = get_type_hints(record)
    for one in metrics_of(record):
        inner = metrics_of(hints[one.name]) if is_dataclass(hints[one.name]) else ()
        found += [_within(one, each) for each in inner] or [one]
    return tuple(found)


def _within(outer: Metric, inner: Metric) -> Metric:
    """Return a metric of a record that is itself the value of one."""
    return replace(inner, path=outer.path + inner.path, key=f"{outer.key}_{inner.key}", needs=outer.needs)


RecordT = TypeVar("RecordT")


def described(record: type[RecordT]) -> type[RecordT]:
    """Complete the docstring of a class of records by its metrics, where it declares any: the outermost decorator."""
    lines = [f"    {one.name} : {one.unit}\n        {one.sentence}" for one in metrics_of(record)]
    text = (record.__doc__ or "").rstrip()
    head = text if "Attributes\n" in text else f"{text}\n\n    Attributes\n    ----------"
    record.__doc__ = "\n".join((head, *lines, "    ")) if lines else record.__doc__
    return record
