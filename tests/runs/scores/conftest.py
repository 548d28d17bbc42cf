"""Tables of metrics made by hand."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

Row = tuple[str, str, str, str, float, float]


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes rows (job, node, file system, metric, time, value) as CSV or Parquet."""

    def write(rows: Iterable[Row], name: str = "table.csv") -> Path:
        rows = list(rows)
        path = tmp_path / name
        names = ("job", "node", "filesystem", "metric", "time", "value")
        if path.suffix == ".csv":
            path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")
        else:
            import pyarrow
            import pyarrow.parquet

            columns = list(zip(*rows, strict=True))
            pyarrow.parquet.write_table(pyarrow.table(dict(zip(names, map(list, columns), strict=True))), path)
        return path

    return write
