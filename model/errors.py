"""Everything iostrata raises on purpose.

::

    IostrataError
    ├── TraceError (ValueError)          the trace cannot be used: not there, unreadable, not an OTF2 archive
    │   └── UnsupportedTraceError        a sound archive of a kind that no engine here reads
    ├── SelectionError (ValueError)      a layer, direction, window, file pattern or method that does not exist here
    ├── ClusterError (RuntimeError)      a Dask cluster that does not answer, or cannot do the work
    └── OutputError (OSError)            a result could not be written; no partial file is left behind

Each message is one line: what is wrong, where, and what to do about it.
"""


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


class ClusterError(IostrataError, RuntimeError):
    """Raised when a Dask cluster does not answer, goes away, or has workers that cannot do the work."""


class OutputError(IostrataError, OSError):
    """Raised when a result cannot be written; the partial file has been removed."""
