"""What all tests share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Return the folder of the real archives."""
    return Path(__file__).parents[1] / "fixtures"
