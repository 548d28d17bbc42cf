"""Tables as CSV, read line by line."""

import csv
from collections.abc import Iterator
from pathlib import Path

from ...model.errors import TraceError


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Give the number of each line that is not empty, and its cells; raises TraceError where it is no CSV."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        reader = csv.reader(file)
        try:
            for cells in reader:
                if cells:
                    yield reader.line_num, cells
        except csv.Error as error:
            raise TraceError(f"{path}: line {reader.line_num} is not CSV: {error}") from None
