"""The methods of period detection by name; its module is imported when it is first asked for."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from ..model.errors import SelectionError
from .results.result import PeriodResult

if TYPE_CHECKING:
    from ..signals.construction import StepSignal

METHODS = {
    "auto": ".methods.auto:detect",
    "autocorrelation": ".methods.autocorrelation:detect",
    "ftio": ".methods.ftio:detect",
    "ftio-dbscan": ".methods.ftio_outliers:detect_dbscan",
    "ftio-isolation-forest": ".methods.ftio_outliers:detect_isolation_forest",
    "ftio-lof": ".methods.ftio_outliers:detect_lof",
    "ftio-merged": ".methods.ftio:detect_merged",
    "ftio-peaks": ".methods.ftio:detect_peaks",
    "hybrid": ".methods.hybrid:detect",
}
"""Name of a method, and the module and the name in it that it stands for."""

DEFAULT_METHOD = "auto"


class Detector(Protocol):
    """A method: from a signal to a verdict."""

    def __call__(self, signal: StepSignal, fs: float | Literal["auto"] = "auto", **options: Any) -> PeriodResult:
        """Detect the period of ``signal`` sampled at ``fs`` Hz."""


def methods() -> list[str]:
    """List the names of all methods."""
    return sorted(METHODS)


def detector(name: str) -> Detector:
    """Import a method; raises SelectionError if there is no method of this name."""
    try:
        module, _, attribute = METHODS[name].partition(":")
    except (KeyError, TypeError):
        raise SelectionError(f"unknown method {name!r}: choose one of {', '.join(methods())}") from None
    return cast(Detector, getattr(import_module(module, __package__), attribute))


def options_of(found: Detector) -> dict[str, Any]:
    """Return the options of a method by name, each with its default."""
    parameters = inspect.signature(found).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}
