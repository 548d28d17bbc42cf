"""Numbers on pages: what the page's code writes is what Python writes in texts and in a terminal."""

from collections.abc import Callable

import pytest
from iostrata.export.page.document import PageDocument, Section, Table, TableColumn
from iostrata.export.page.html import write_page
from iostrata.model.quantities import (
    bytes_text,
    count_text,
    frequency_text,
    interval_text,
    rate_text,
    seconds_text,
    share_text,
)

VALUES = sorted(
    {0.0, 0.5, 1.0, 59.6, 119.9, 7199.0, 7200.0, 35_999.0, 36_000.0, 1e5}
    | {float(f"{digits}e{power}") for digits in ("9.9941", "9.9957", "1.2346") for power in range(-4, 12)}
)
WRITTEN: dict[str, Callable[[float], str]] = {
    "bytes": lambda value: bytes_text(round(value)),
    "rate": rate_text,
    "seconds": seconds_text,
    "frequency": frequency_text,
    "share": lambda value: share_text(value / 1e12, 1),
    "count": lambda value: count_text(round(value)),
    "interval": lambda value: interval_text(value, (value * 0.9871, value * 1.0213)),
}
GIVEN: dict[str, Callable[[float], object]] = {
    "bytes": round,
    "share": lambda value: value / 1e12,
    "count": round,
    "interval": lambda value: (value, (value * 0.9871, value * 1.0213)),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_numbers_are_written_as_in_python(browser, tmp_path, kind):
    values = [value for value in VALUES if value > 0] if kind == "interval" else VALUES
    columns = [TableColumn("value", str, "text"), TableColumn(kind, GIVEN.get(kind, float), kind)]
    document = PageDocument("numbers", [Section("numbers", "Numbers", "Numbers", [Table(columns, values)])])
    browser.get(write_page([document], tmp_path / "numbers.html").path.as_uri())
    cells = browser.execute_script("return [...document.querySelectorAll('td')].map((e) => e.textContent)")
    written = [cell.replace("\u00a0", " ") for cell in cells]
    assert dict(zip(values, written, strict=True)) == {value: WRITTEN[kind](value) for value in values}
