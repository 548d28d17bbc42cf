"""The outlier detectors of scikit-learn, which is an extra."""

from importlib import import_module
from typing import Any

from ..otf2io.errors import SelectionError

MOST_LINES = 2**16
"""Lines of a spectrum that a detector is given: as many as an automatic sampling frequency ever makes.

They build trees and lists of neighbours in Python objects, for which 2^23 lines would take gigabytes.
"""


def scikit_learn(module: str, method: str) -> Any:
    """Import a module of scikit-learn.

    Parameters
    ----------
    module : str
        Name below ``sklearn``.
    method : str
        The method that needs it, for the error.

    Raises
    ------
    SelectionError
        If scikit-learn is not installed.
    """
    try:
        return import_module(f"sklearn.{module}")
    except ImportError as error:
        raise SelectionError(
            f"method {method!r} needs scikit-learn; install it with pip install 'iostrata[outliers]'"
        ) from error
