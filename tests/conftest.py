"""What all tests share."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Examples may take any time: a kernel is compiled within the first, and machines differ and are busy. Fixtures of
# functions are shared by all examples on purpose: they make things and keep nothing.
settings.register_profile(
    "any-machine",
    deadline=None,
    max_examples=60,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("any-machine")


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Return the folder of the real archives."""
    return Path(__file__).parents[1] / "fixtures"
