"""The limits that jobs were trained to, as a file that people can read."""

import os
from pathlib import Path

from ...runs.scores.limits import MetricLimits
from ..atomic import atomic_file
from ..json.documents import json_text
from ..written import Written


def write_limits(limits: MetricLimits, path: str | os.PathLike[str]) -> Written:
    """Write limits as JSON, whole or not at all; raises OutputError."""
    text = json_text(limits.to_dict()) + "\n"
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="ascii")
    return Written(Path(path), len(text))
