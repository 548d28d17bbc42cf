"""What a recorder tells of a run as text, for files that a trace is converted to and that have no place for it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..recording import Counters, Recording
from .damage import DamageReport, LocationDamage

_VERSION: Final = 1
_TEXTS: Final = ("recorder", "format", "remedy")
_CHOICES: Final = {"rows": ("operations", "intervals"), "handles": ("recorded", "inferred", "absent")}
_SWITCHES: Final = ("ranks", "nodes", "threads", "metadata", "offsets", "collective")
_COLUMNS: Final[dict[str, type[np.int32] | type[np.int64]]] = {
    "module": np.int32,
    "file": np.int32,
    "rank": np.int32,
    "reads": np.int64,
    "writes": np.int64,
    "bytes_read": np.int64,
    "bytes_written": np.int64,
}


@dataclass(frozen=True)
class Kept:
    """What was kept of a trace's origin: its recording, what had been lost there, and which rows were odd."""

    recording: Recording
    losses: tuple[LocationDamage, ...] = ()
    irregular: Mapping[str, int] = field(default_factory=dict)

    @property
    def lost(self) -> int:
        """Events that had been lost."""
        return sum(one.events_expected - one.events_read for one in self.losses)


def kept_text(recording: Recording, damage: DamageReport | None = None) -> str:
    """Return a recording, and what was lost or odd when it was read, as JSON in ASCII."""
    counters = recording.counters
    found: dict[str, Any] = {
        "version": _VERSION,
        **{name: getattr(recording, name) for name in (*_TEXTS, *_CHOICES, *_SWITCHES)},
        "flushes": recording.flushes,
        "amounts": recording.amounts,
        "whole_seconds": recording.whole_seconds,
        "layers": recording.layers,
        "facts": dict(recording.facts),
        "notes": recording.notes,
        "counters": None
        if counters is None
        else {
            **{name: getattr(counters, name).tolist() for name in _COLUMNS},
            "modules": counters.modules,
            "layers": counters.layers,
        },
        "losses": []
        if damage is None
        else [[one.row, one.events_expected, one.events_read, one.reason] for one in damage.locations],
        "irregular": {} if damage is None else dict(damage.irregular),
    }
    return json.dumps(found, separators=(",", ":"))


def kept_of(text: str, locations: np.ndarray[Any, np.dtype[np.uint64]], files: int) -> Kept:
    """Return what `kept_text` wrote; ValueError where it is something else.

    Parameters
    ----------
    locations : uint64 (l,)
        Ids of the locations that losses are of.
    files : int
        How many files counters may be of.
    """
    try:
        found = json.loads(text)
        if found["version"] != _VERSION:
            raise ValueError(f"version {found['version']!r}")
        facts = {_text(key): value if type(value) is int else _text(value) for key, value in found["facts"].items()}
        if facts.keys() & {"recorder", "format"}:
            raise ValueError("facts that stand elsewhere")
        fields: dict[str, Any] = {name: _text(found[name]) for name in _TEXTS}
        fields |= {name: _chosen(found[name], choices) for name, choices in _CHOICES.items()}
        fields |= {name: _chosen(found[name], (False, True)) for name in _SWITCHES}
        # Files of earlier versions do not have these.
        fields["flushes"] = _chosen(found.get("flushes", True), (False, True))
        fields["amounts"] = _text(found.get("amounts", ""))
        fields["whole_seconds"] = _chosen(found.get("whole_seconds", False), (False, True))
        layers = found.get("layers")
        fields["layers"] = None if layers is None else tuple(map(_text, layers))
        counters = None if found["counters"] is None else _counters(found["counters"], files)
        recording = Recording(**fields, facts=facts, notes=tuple(map(_text, found["notes"])), counters=counters)
        losses = []
        for row, expected, read, reason in found["losses"]:
            if not -1 <= _count(row, -1) < len(locations):
                raise ValueError("losses of no location")
            location = int(locations[row]) if row >= 0 else -1
            losses.append(LocationDamage(location, row, _count(expected), _count(read), _text(reason), inherited=True))
        irregular = {_text(name): _count(count) for name, count in found["irregular"].items()}
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None
    return Kept(recording, tuple(losses), irregular)


def _counters(found: dict[str, Any], files: int) -> Counters:
    columns = {name: _column(found[name], kind) for name, kind in _COLUMNS.items()}
    modules, layers = (tuple(map(_text, found[name])) for name in ("modules", "layers"))
    shapes = {column.shape for column in columns.values()}
    if len(shapes) != 1 or len(modules) != len(layers) or any(len(shape) != 1 for shape in shapes):
        raise ValueError("counters that differ in number")
    for name, low, high in (("module", 0, len(modules)), ("file", -1, files)):
        if ((columns[name] < low) | (columns[name] >= high)).any():
            raise ValueError(f"counters of no {name}")
    return Counters(**columns, modules=modules, layers=layers)


def _column(values: object, kind: type[np.int32] | type[np.int64]) -> np.ndarray[Any, Any]:
    # NumPy before 2 takes what is too wide for the narrow type modulo its range.
    wide = np.array(values, np.int64)
    column = wide.astype(kind)
    if (column != wide).any():
        raise ValueError("a counter of no such width")
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


def _count(value: Any, least: int = 0) -> int:
    if type(value) is not int or not least <= value < 2**63:
        raise ValueError("what should be a number is none")
    return value
