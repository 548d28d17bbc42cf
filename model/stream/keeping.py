"""What a recorder tells of a run as text, for files that a trace is converted to and that have no place for it."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from ..arrays import Unsigned, innermost
from ..recording import Counters, Recording
from .damage import DamageReport, LocationDamage

_VERSION: Final = 1
_FIELDS: Final = tuple(one.name for one in fields(Recording) if one.name != "kept_in")


@dataclass(frozen=True)
class KeptOrigin:
    """What was kept of a trace's origin: its recording, what had been lost there, and which rows were odd."""

    recording: Recording
    losses: tuple[LocationDamage, ...] = ()
    irregular: Mapping[str, int] = field(default_factory=dict)

    @property
    def lost(self) -> int:
        """Events that had been lost."""
        return sum(max(one.events_expected - one.events_read, 0) for one in self.losses)


def kept_text(recording: Recording, damage: DamageReport | None = None) -> str:
    """Return a recording, and what was lost or odd when it was read, as JSON in ASCII."""
    damage = damage or DamageReport(0, 0, ())
    found = {
        "version": _VERSION,
        **{name: getattr(recording, name) for name in _FIELDS},
        "losses": [[one.row, one.events_expected, one.events_read, one.reason] for one in damage.locations],
        "irregular": damage.irregular,
    }
    return json.dumps(found, separators=(",", ":"), default=_encoded)


def _encoded(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return dict(value if isinstance(value, Mapping) else vars(value))


def kept_of(text: str, locations: Unsigned, files: int, processes: int) -> KeptOrigin:
    """Return what `kept_text` wrote; ValueError where it is something else.

    Parameters
    ----------
    locations : uint64 (l,)
        Ids of the locations that losses are of.
    files, processes : int
        How many files and processes counters may be of.
    """
    try:
        found = json.loads(text)
        if found["version"] != _VERSION:
            raise ValueError(f"version {found['version']!r}")
        # Files of earlier versions lack some of the fields.
        recording: Recording = decoded({name: found[name] for name in _FIELDS if name in found}, Recording)
        if recording.facts.keys() & {"recorder", "format"}:
            raise ValueError("facts that stand elsewhere")
        if recording.counters is not None:
            _check_counters(recording.counters, files, processes)
        losses = []
        for row, expected, read, reason in found["losses"]:
            if not -1 <= _count(row, -1) < len(locations):
                raise ValueError("losses of no location")
            location = int(locations[row]) if row >= 0 else -1
            losses.append(LocationDamage(location, row, _count(expected), _count(read), _text(reason), inherited=True))
        irregular = {_text(name): _count(count) for name, count in found["irregular"].items()}
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None
    return KeptOrigin(recording, tuple(losses), irregular)


def decoded(value: Any, hint: Any) -> Any:
    """Return a value of a declared type, out of what JSON has for it; some error of Python's own where that is none.

    Records are mappings of their fields, or lists of all of them.
    """
    if hint is str or (hint == str | int and type(value) is not int):
        return _text(value)
    if hint in (int, str | int):
        return _count(value, -math.inf, math.inf)
    if is_dataclass(hint):
        return _decoded_record(value, hint)
    kinds, origin = get_args(hint), get_origin(hint)
    if origin in (Mapping, dict):
        return {_text(key): decoded(one, kinds[1]) for key, one in value.items()}
    if origin is tuple:
        return _decoded_tuple(value, kinds)
    if NoneType in kinds:
        return None if value is None else decoded(value, kinds[0])
    if hint is bool or origin is Literal:
        return _chosen(value, kinds or (False, True))
    return _column(value, innermost(hint))


def _decoded_record(value: Any, record: Any) -> Any:
    hints = get_type_hints(record)
    given = value if isinstance(value, Mapping) else dict(zip(hints, value, strict=True))
    return record(**{name: decoded(one, hints[name]) for name, one in given.items()})


def _decoded_tuple(value: Any, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise TypeError("what should be a list is none")
    of_each = kinds[:1] * len(value) if kinds[-1] is ... else kinds
    return tuple(decoded(one, kind) for one, kind in zip(value, of_each, strict=True))


def _check_counters(counters: Counters, files: int, processes: int) -> None:
    columns = [one for one in vars(counters).values() if isinstance(one, np.ndarray)]
    columns += [*counters.counts.values(), *counters.seconds.values()]
    names = len(counters.modules)
    if len({len(column) for column in columns}) != 1 or names != len(counters.layers):
        raise ValueError("counters that differ in number")
    known = (("module", 0, names), ("file", -1, files), ("rank", -1, processes))
    for name, low, high in known:
        column = getattr(counters, name)
        if ((column < low) | (column >= high)).any():
            raise ValueError(f"counters of no {name}")


def _column(values: object, kind: npt.DTypeLike) -> np.ndarray[Any, Any]:
    column = np.array(values, kind)
    # NumPy before 2 takes what is too wide for the narrow type modulo its range.
    if column.ndim != 1 or column.tolist() != values:
        raise ValueError("a column of other numbers than it may have")
    return column


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("what should be text is none")
    # Half a surrogate cannot be printed.
    return value.encode("utf-8", "backslashreplace").decode()


def _chosen(value: Any, choices: tuple[Any, ...]) -> Any:
    if type(value) is not type(choices[0]) or value not in choices:
        raise ValueError(f"{value!r:.40} is none of {choices}")
    return value


def _count(value: Any, least: float = 0, most: float = 2**63) -> int:
    if type(value) is not int or not least <= value < most:
        raise ValueError("what should be a number is none")
    return value
