"""The version of this package, as it is installed."""

from importlib.metadata import version
from typing import Final

__version__: Final = version("iostrata")
