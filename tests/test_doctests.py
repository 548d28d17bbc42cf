"""The examples in docstrings give what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

TREE = Path(__file__).parents[1]
FLOORS = [folder for folder in sorted(TREE.iterdir()) if (folder / "__init__.py").is_file()]
MODULES = [
    ".".join(["iostrata", *path.relative_to(TREE).with_suffix("").parts]).removesuffix(".__init__")
    for path in (TREE / "__init__.py", *(path for floor in FLOORS for path in sorted(floor.rglob("*.py"))))
    if ">>> " in path.read_text()
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples() -> None:
    assert len(MODULES) >= 10
