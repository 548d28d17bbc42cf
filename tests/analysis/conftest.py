"""Where the archives of the test suite are."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Folder of the archives."""
    return Path(__file__).parents[2] / "fixtures"
