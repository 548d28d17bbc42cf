"""Errors, and the one way in which a library of an extra is imported."""

import sys
import tomllib
from pathlib import Path

import pytest
from iostrata import IostrataError, MissingLibraryError
from iostrata.model.errors import _EXTRAS, import_library

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("package", _EXTRAS)
def test_the_extra_that_is_named_installs_the_library(package):
    _, library, extra = _EXTRAS[package]
    assert [one for one in PROJECT["optional-dependencies"][extra] if one.startswith(f"{library}>=")]


def test_a_library_that_is_there_is_imported():
    assert import_library("pyarrow.parquet") is sys.modules["pyarrow.parquet"]


def test_one_that_is_not_there_is_an_error_that_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "msgpack", None)
    with pytest.raises(MissingLibraryError) as caught:
        import_library("msgpack", "run.msgpack")
    assert str(caught.value) == (
        "run.msgpack: MessagePack needs msgpack, which is not installed: pip install 'iostrata[tmio]'"
    )
    assert isinstance(caught.value, IostrataError)
    assert isinstance(caught.value, ImportError)
