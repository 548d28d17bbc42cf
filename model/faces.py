"""Names that a package hands on from its modules on first use, so that importing it costs nothing.

They are declared once, by the imports that its ``__init__.py`` has for type checkers; these are read where the first
name is asked for.
"""

import sys
from importlib import import_module

TYPE_CHECKING = False  # not imported, as little is to happen before a command can be interrupted
if TYPE_CHECKING:
    from collections.abc import Callable


def lazy_names(package: str) -> "tuple[Callable[[str], object], Callable[[], list[str]]]":
    """Return the ``__getattr__`` and ``__dir__`` of a package that hands on the names it imports for type checkers.

    It has no ``__all__``: that is asked for as a name, and is what ``__dir__`` gives.
    """

    homes: dict[str, str] = {}

    def read_homes() -> dict[str, str]:
        if homes:
            return homes
        import ast

        with open(str(sys.modules[package].__file__), encoding="utf-8") as file:
            statements = ast.parse(file.read()).body
        checked = next(
            one for one in statements if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING"
        )
        imports = (one for one in checked.body if isinstance(one, ast.ImportFrom))
        homes.update({alias.asname or alias.name: f".{one.module}" for one in imports for alias in one.names})
        return homes

    def find(name: str) -> object:
        if name == "__all__":
            return sorted(read_homes())
        # Of Python's own names, which it asks every package for, there is one.
        if (name.startswith("__") and name != "__version__") or name not in read_homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(homes[name], package), name)
        # Python asks no more for what the package has.
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted(read_homes())
