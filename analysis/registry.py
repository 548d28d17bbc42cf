"""The methods of period detection by name: what a method is, its options, and all that are installed.

Methods enter by entry points of the group ``iostrata.methods``, ours as those of others: each names a subclass of
`PeriodMethod`, whose module is imported when the method is first asked for.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ..model.errors import SelectionError
from ..model.plugins import Plugins
from ..model.quantities import SamplingFrequency, is_number

if TYPE_CHECKING:
    from ..signals.construction import StepSignal
    from .results.result import PeriodResult

DEFAULT_METHOD: Final = "auto"


@dataclass(frozen=True)
class MethodOption:
    """A parameter of a method, whose default is that of the keyword of `PeriodMethod.detect`.

    Attributes
    ----------
    name : str
    description : str
        One sentence.
    values : str
        Which values there are, to follow "give".
    accepts : callable
        Tells whether a value is one of them; without it, what uses the value does.
    """

    name: str
    description: str
    values: str
    accepts: Callable[[Any], bool] = lambda _value: True

    def check(self, value: object) -> None:
        """Raise SelectionError unless there is such a value."""
        if not self.accepts(value):
            raise SelectionError(f"{self.name} {value!r}: give {self.values}")


def share_option(name: str, description: str, most: float) -> MethodOption:
    """Return an option that is a share above 0, up to a largest one."""
    return MethodOption(
        name, description, f"a share above 0, up to {most:g}", lambda value: is_number(value) and 0 < value <= most
    )


FALSE_ALARM_RATE: Final = share_option(
    "false_alarm_rate", "Share of signals without a period that may be called periodic.", 0.5
)
TOLERANCE: Final = share_option("tolerance", "Share of the largest z-score that a candidate reaches.", 1.0)
THRESHOLD: Final = MethodOption(
    "threshold",
    "What an outlier of the spectrum reaches, such as a z-score.",
    "a number",
    lambda value: value is None or is_number(value),
)
SKIP_FIRST_PHASE: Final = MethodOption(
    "skip_first_phase",
    "Whether the window starts at the second phase: the first often reads input or writes headers.",
    "True or False",
    lambda value: isinstance(value, bool),
)


class PeriodMethod(ABC):
    """A method of period detection.

    Attributes
    ----------
    name : str
        As in its entry point.
    description : str
        One sentence.
    limits : str
        What it cannot do or needs, a sentence or two.
    options : tuple of MethodOption
        The keywords of `detect`.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    limits: ClassVar[str]
    options: ClassVar[tuple[MethodOption, ...]] = ()

    @abstractmethod
    def detect(self, signal: StepSignal, fs: SamplingFrequency = "auto", *none: Any, **options: Any) -> PeriodResult:
        """Detect the period of a signal sampled at `fs` Hz; options are keywords, known and checked."""

    def __call__(self, signal: StepSignal, fs: SamplingFrequency = "auto", **options: Any) -> PeriodResult:
        """Check the options, which raises SelectionError, and detect the period of a signal."""
        known = {option.name: option for option in self.options}
        for name, value in options.items():
            if name not in known:
                names = ", ".join(known) or "none"
                raise SelectionError(f"method {self.name!r} has no option {name!r}: it has {names}")
            known[name].check(value)
        return self.detect(signal, fs, **options)

    @property
    def defaults(self) -> dict[str, Any]:
        """Options by name, each with its default."""
        parameters = inspect.signature(self.detect).parameters
        return {option.name: parameters[option.name].default for option in self.options}


def _accept(name: str, loaded: Any) -> PeriodMethod:
    """Return the method of an entry point; TypeError says what it lacks."""
    if not (isinstance(loaded, type) and issubclass(loaded, PeriodMethod)):
        raise TypeError("it is no subclass of PeriodMethod")
    lacking = [part for part in ("name", "description", "limits") if not getattr(loaded, part, "")]
    if lacking or loaded.name != name:
        raise TypeError(f"it has no {lacking[0]}" if lacking else f"its name is {loaded.name!r}")
    return loaded()


_PLUGINS: Final = Plugins("iostrata.methods", _accept)


def methods() -> list[str]:
    """List the names of all methods, without importing any."""
    return sorted(_PLUGINS.names)


def period_method(name: str) -> PeriodMethod:
    """Import a method; raises SelectionError if there is no method of this name."""
    found = _PLUGINS.find(name) if isinstance(name, str) else None
    if found is None:
        raise SelectionError(f"unknown method {name!r}: choose one of {', '.join(methods())}")
    return found
