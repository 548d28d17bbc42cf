"""Whole results in plain values, and their comparison with stored ones that were looked at.

Stored results guard against changes that nobody wanted where no second way to compute a result exists; they prove
nothing by themselves.
"""

import dataclasses
import functools
import json
import math
import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

SHORT = 6
"""Longer arrays are told by their length, their sum and their sum weighted by position."""

MOST = 4000
"""Characters of a stored result: what is deepest is folded first until there are no more."""

FOLDED = 200
"""Characters of a part that is worth it."""

SHORT_TABLE = 3
"""Tables with more rows are told by column."""

DEEP = 3
"""Lists further down than this in a result are told as one."""

WHOLE = ("Trace", "Scope", "Stream", "TraceBlock")
"""Classes of what a result only points back to."""

NEAR = 1e-6
"""Relative difference of floats that is none: machines and versions of NumPy differ in the last digits."""

LONG_FLOAT = re.compile(r"(?<![\w.])(?=[\d.]{14,})-?\d+\.\d+(e[+-]\d+)?(?![\w.])")
"""What is a float at full length in a text, as lines of JSON and CSV have it."""


def plain(
    value: Any,
    skipped: Collection[str] = (),
    around: tuple[int, ...] = (),
    replaced: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Return a result, with its fields and properties, as values of JSON; long ones condensed.

    Parameters
    ----------
    value : object
        Anything that a room returns.
    skipped : collection of str
        Names of fields and properties to leave out.
    around : tuple of int
        Identities of the objects that this is part of, as objects may hold each other.
    replaced : mapping of str to str
        Parts of texts that differ from machine to machine, with what to put there.
    """
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, str):
        told = functools.reduce(lambda text, old: text.replace(old, replaced[old]), replaced, value)
        return LONG_FLOAT.sub(lambda one: f"{float(one[0]):.6g}", told)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.ndarray) and value.ndim:
        return _condensed(value)
    if isinstance(value, int | float | np.generic | np.ndarray):
        return _number(value)
    if isinstance(value, pd.DataFrame):
        return {str(name): _condensed(value[name].to_numpy()) for name in value}
    if isinstance(value, bytes):
        return {"bytes": len(value), "check": zlib.crc32(value)}
    if isinstance(value, Path):
        return value.name
    if callable(value) or type(value).__name__ in WHOLE:
        return type(value).__name__
    if id(value) in around:
        return "..."
    inner = (*around, id(value))
    if isinstance(value, Mapping):
        return {
            plain(_key(key), replaced=replaced): plain(one, skipped, inner, replaced)
            for key, one in value.items()
            if key not in skipped
        }
    if isinstance(value, set | frozenset):
        return plain(sorted(map(str, value)))
    if isinstance(value, list | tuple | Iterator | range) and not hasattr(value, "_fields"):
        return _listed([plain(one, skipped, inner, replaced) for one in value], not around or len(around) < DEEP)
    found = {}
    for name in _names(type(value)):
        if name not in skipped:
            found[name] = plain(getattr(value, name), skipped, inner, replaced)
    if not found:
        raise TypeError(f"nothing to hold of {type(value)}")
    return found


def _key(key: Any) -> str:
    if isinstance(key, Enum):
        return key.name
    return " ".join(map(_key, key)) if isinstance(key, tuple) else str(key)


@functools.cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the public fields and properties of a class, in a fixed order."""
    fields = getattr(kind, "_fields", ()) or tuple(getattr(kind, "__dataclass_fields__", ()))
    made = property | functools.cached_property
    properties = sorted(name for one in kind.__mro__ for name, member in vars(one).items() if isinstance(member, made))
    return tuple(name for name in dict.fromkeys([*fields, *properties]) if name[0] != "_" and not name.isupper())


def _number(value: Any) -> Any:
    one = value.item() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(one, float):
        return float(f"{one:.9g}") if math.isfinite(one) else str(one)
    return one if isinstance(one, int | str | bool) or one is None else str(one)


def _listed(values: list[Any], table: bool = True) -> Any:
    if len(values) > SHORT_TABLE and table and all(isinstance(one, dict) for one in values):
        keys = list(dict.fromkeys(key for one in values for key in one))
        return {"rows": len(values), **{key: _listed([one.get(key) for one in values], False) for key in keys}}
    leaves = list(_leaves(values))
    if len(leaves) <= SHORT or (table and len(values) <= SHORT):
        return values
    if all(one == leaves[0] and type(one) is type(leaves[0]) for one in leaves):
        return {"all": leaves[0], "values": len(leaves)}
    numbers = np.array([one for one in leaves if type(one) in (int, float)], float)
    texts = [one for one in leaves if type(one) not in (int, float)]
    if not texts and not isinstance(values[0], list | dict):
        return _condensed(numbers)
    told: dict[str, Any] = {"values": len(values)}
    if numbers.size:
        # Bytes would hide seconds in a sum of both.
        logs = np.log(np.abs(np.where(numbers == 0, 0.05, numbers)))
        place = np.arange(1, numbers.size + 1) / numbers.size
        weighted, size = np.sum(logs * place + (numbers < 0) * place), np.abs(logs).sum()
        told |= {"numbers": numbers.size, "weighted": _number(weighted), "size": _number(size)}
    if texts:
        told |= {"texts": len(texts), "check": zlib.crc32(json.dumps(texts).encode())}
    return told


def folded(value: Any, depth: int) -> Any:
    """Return a plain value, in which what is long and stands this deep is told by its count and sums."""
    if not isinstance(value, dict | list) or len(json.dumps(value)) < FOLDED:
        return value
    if depth == 0:
        return _listed([value], False)
    if isinstance(value, dict):
        return {key: folded(one, depth - 1) for key, one in value.items()}
    return [folded(one, depth - 1) for one in value]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from _leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def _condensed(values: np.ndarray) -> Any:
    if values.dtype == object or values.dtype.kind in "SUMm":
        return _listed([plain(one) for one in values.ravel().tolist()])
    if values.dtype.names:
        return {name: _condensed(values[name]) for name in values.dtype.names}
    if values.size <= SHORT and values.ndim == 1:
        return [_number(one) for one in values]
    numbers = np.abs(values) if values.dtype.kind == "c" else values
    flat = numbers.astype(np.float64).ravel()
    real = np.isfinite(flat)
    place = np.arange(1, flat.size + 1) / max(flat.size, 1)
    if flat.size and (flat == flat[0]).all():
        return {"all": _number(flat[0]), "values": flat.size}
    size = np.abs(flat[real]).sum()
    told = {"values": flat.size, "sum": flat[real].sum(), "weighted": (flat[real] * place[real]).sum()}
    if size != told["sum"]:
        told["size"] = size
    return {key: _number(one) for key, one in told.items()}


def differences(now: Any, stored: Any, place: str = "", size: float = 0.0) -> Iterator[str]:
    """Yield what differs between a result and the stored one, a line each."""
    if isinstance(now, dict) and isinstance(stored, dict):
        scale = stored.get("size", stored.get("sum")) if "weighted" in stored else None
        for key in dict.fromkeys([*stored, *now]):
            if key in now and key in stored:
                yield from differences(now[key], stored[key], f"{place}/{key}", scale or 0.0)
            else:
                yield f"{place}/{key}: {'gone' if key in stored else 'new'}"
    elif isinstance(now, list) and isinstance(stored, list) and len(now) == len(stored):
        for row, (one, other) in enumerate(zip(now, stored, strict=True)):
            yield from differences(one, other, f"{place}/{row}")
    elif (isinstance(now, float) and type(stored) in (int, float)) or (isinstance(stored, float) and type(now) is int):
        if not math.isclose(now, stored, rel_tol=NEAR, abs_tol=max(1e-12, NEAR * size)):
            yield f"{place}: {now}, stored {stored}"
    elif type(now) is not type(stored) or now != stored:
        yield f"{place}: {str(now)[:200]}, stored {str(stored)[:200]}"


@dataclasses.dataclass(frozen=True)
class Held:
    """Compares whole results of a room with those in a folder, or writes them."""

    folder: Path
    renew: bool
    replaced: Mapping[str, str]

    def __call__(self, name: str, value: Any, skipped: Collection[str] = ()) -> None:
        """Compare a result with the stored one of this name."""
        told = plain(value, skipped, replaced=self.replaced)
        path = self.folder / f"{name}.json"
        if self.renew:
            for depth in range(6, 0, -1):
                text = json.dumps({"depth": depth, "result": folded(told, depth)}, indent=0, ensure_ascii=False)
                if len(text) <= MOST:
                    break
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
        stored = json.loads(path.read_text())
        changed = list(differences(folded(told, stored["depth"]), stored["result"]))
        assert not changed, f"{path.name}: {len(changed)} differ\n" + "\n".join(changed[:20])
