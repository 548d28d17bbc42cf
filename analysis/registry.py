"""The methods of period detection by name; each is one module, imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from ..otf2io.errors import SelectionError
from .results import PeriodResult

if TYPE_CHECKING:
    from ..layers.signal import StepSignal

METHODS = {
    "auto": ".methods.auto",
    "autocorrelation": ".methods.autocorrelation",
    "ftio": ".methods.ftio",
    "ftio-dbscan": ".methods.ftio_dbscan",
    "ftio-isolation-forest": ".methods.ftio_isolation_forest",
    "ftio-lof": ".methods.ftio_lof",
    "ftio-merged": ".methods.ftio_merged",
    "ftio-peaks": ".methods.ftio_peaks",
    "hybrid": ".methods.hybrid",
}
"""Name of a method, and the module whose ``detect`` it is."""

DEFAULT_METHOD = "auto"


class Detector(Protocol):
    """A method: from a signal to a verdict."""

    def __call__(self, signal: StepSignal, fs: float | Literal["auto"] = "auto", **options: Any) -> PeriodResult:
        """Detect the period of ``signal`` sampled at ``fs`` Hz."""


def methods() -> list[str]:
    """List the names of all methods."""
    return sorted(METHODS)


def detector(name: str) -> Detector:
    """Import a method.

    Raises
    ------
    SelectionError
        If there is no method of this name.
    """
    try:
        module = METHODS[name]
    except (KeyError, TypeError):
        raise SelectionError(f"unknown method {name!r}: choose one of {', '.join(methods())}") from None
    return cast(Detector, import_module(module, __package__).detect)
