"""Everything iostrata raises on purpose.

::

    IostrataError
    ├── TraceError (ValueError)          the trace cannot be used: not there, unreadable, not an OTF2 archive
    │   └── UnsupportedTraceError        a sound archive of a kind that no engine here reads
    ├── SelectionError (ValueError)      a layer, direction, window, file pattern or method that does not exist here
    ├── MissingLibraryError (ImportError)  a library of an extra that is not installed
    ├── RecordingError (RuntimeError)    a program cannot be recorded, or left no trace
    ├── ClusterError (RuntimeError)      a Dask cluster that does not answer, or cannot do the work
    └── OutputError (OSError)            a result could not be written; no partial file is left behind

Each message is one line: what is wrong, where, and what to do about it.
"""

from importlib import import_module
from typing import Any

_EXTRAS = {
    "distributed": ("a Dask cluster", "distributed", "dask"),
    "mcp": ("an assistant", "mcp", "mcp"),
    "matplotlib": ("a picture", "matplotlib", "plot"),
    "msgpack": ("MessagePack", "msgpack", "tmio"),
    "networkx": ("a graph", "networkx", "networkx"),
    "pandas": ("a DataFrame", "pandas", "dataframe"),
    "pyarrow": ("a table in a file", "pyarrow", "parquet"),
    "pywt": ("a wavelet transform", "PyWavelets", "wavelet"),
    "sklearn": ("an outlier detector", "scikit-learn", "outliers"),
    "xarray": ("an xarray object", "xarray", "xarray"),
}
"""By package: what needs a library, its name, and the extra of iostrata that installs it."""


class IostrataError(Exception):
    """Base of all errors that iostrata raises on purpose."""


class TraceError(IostrataError, ValueError):
    """Raised when a trace cannot be used as a whole: missing, unreadable, or not an OTF2 archive."""


class UnsupportedTraceError(TraceError):
    """Raised for an archive that is sound but of a kind that no engine here reads (SION, a newer format)."""


class SelectionError(IostrataError, ValueError):
    """Raised when a layer, direction, window, file pattern, sampling frequency or method makes no sense."""


class UnknownKeyError(SelectionError, KeyError):
    """Base of errors of mappings that are asked for a key they do not have."""

    def __str__(self) -> str:
        # KeyError would put the sentence in quotes.
        return ValueError.__str__(self)


class RecordingError(IostrataError, RuntimeError):
    """Raised when a program cannot be recorded, or was run and left no trace."""


class MissingLibraryError(IostrataError, ImportError):
    """Raised when something needs a library that is not installed; says which extra of iostrata installs it."""


def import_library(name: str, where: object = None) -> Any:
    """Import a module of a library that is an extra.

    Parameters
    ----------
    name : str
        Of the module, such as ``pyarrow.parquet``.
    where : object, optional
        What the message names first, such as the file that cannot be read without.

    Raises
    ------
    MissingLibraryError
        If the library is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        what, library, extra = _EXTRAS[name.partition(".")[0]]
        place = "" if where is None else f"{where}: "
        raise MissingLibraryError(
            f"{place}{what} needs {library}, which is not installed: pip install 'iostrata[{extra}]'"
        ) from error


class ClusterError(IostrataError, RuntimeError):
    """Raised when a Dask cluster does not answer, goes away, or has workers that cannot do the work."""


class OutputError(IostrataError, OSError):
    """Raised when a result cannot be written; the partial file has been removed."""
