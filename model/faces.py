"""Names that a package hands on from its modules on first use, so that importing it costs nothing."""

import sys
from importlib import import_module

TYPE_CHECKING = False  # not imported, as little is to happen before a command can be interrupted
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def lazy_names(
    package: str, homes: "Mapping[str, Sequence[str]]"
) -> "tuple[list[str], Callable[[str], object], Callable[[], list[str]]]":
    """Return what a package needs to hand on names: its ``__all__``, ``__getattr__`` and ``__dir__``.

    Parameters
    ----------
    package : str
        Its full name.
    homes : mapping of str to sequence of str
        Modules, relative to the package, with the names that they define.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(home[name], package), name)
        # Python asks no more for what the package has.
        setattr(sys.modules[package], name, value)
        return value

    return sorted(home), find, lambda: sorted(home)
