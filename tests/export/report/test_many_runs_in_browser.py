"""Pages of many runs in a real browser: names are told apart, stay text and leave room, and rows stay low."""

from dataclasses import replace
from pathlib import Path

import pytest
from iostrata.export.collection import CollectionWriter
from iostrata.export.page.document import PageDocument, Section, Table, TableColumn
from iostrata.export.page.html import write_page
from iostrata.export.runs.ranking_page import write_ranking
from iostrata.runs import Collection, Settings, read_run

pytest.importorskip("pyarrow")
NAMES = {
    "/x/a/run1/traces.otf2": "run1",
    "/x/b/run1/traces.otf2": "run1",
    "/x/<script>window.broken=1</script>/traces.otf2": "<script>window.broken=1</script>",
    "/x/long/traces.otf2": "long" * 60,
    "/x/idle/traces.otf2": "idle",
}


@pytest.fixture(scope="module")
def ranking(fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of runs of these names, one of which did no I/O."""
    folder = tmp_path_factory.mktemp("ranking")
    one = read_run(fixtures / "serial1", Settings())
    assert one is not None
    runs = []
    for key, name in NAMES.items():
        tables = {
            field: tuple(replace(row, job=key) for row in getattr(one, field) if name != "idle")
            for field in ("layers", "findings", "signals", "segments")
        }
        runs.append(replace(one, job=replace(one.job, job=key, name=name), **tables))
    writer = CollectionWriter(folder / "runs")
    with writer.opened():
        writer.add(runs)
        writer.finish()
    write_ranking(Collection(folder / "runs"), folder / "runs.html")
    return folder / "runs.html"


@pytest.mark.parametrize("width", [400, 800, 1600])
def test_names_are_told_apart_and_leave_room_for_the_columns(browser, ranking, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(ranking.as_uri())
    assert browser.execute_script("return document.documentElement.dataset.ready") == "true"
    assert not browser.get_log("browser")
    assert browser.execute_script("return window.broken") is None
    shown = browser.execute_script(
        "return [...document.querySelectorAll('#ranking th span')].map((e) => e.textContent)"
    )
    assert {"a/run1", "b/run1", "<script>window.broken=1</script>", "idle"} <= set(shown)
    assert len(set(shown)) == len(NAMES)
    assert browser.execute_script("return document.querySelectorAll('svg.spark path').length") == len(NAMES) - 1
    room = "const wide = document.querySelector('#ranking .wide'); return wide.scrollWidth - wide.clientWidth"
    assert browser.execute_script(room) <= 0
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [400, 800, 1600])
def test_names_and_numbers_of_a_table_are_not_broken_and_what_is_too_wide_scrolls(browser, tmp_path, width):
    columns = [TableColumn("job", lambda name: name, "text")]
    columns += [TableColumn(f"number {place}", lambda _: 12_500_000, "bytes") for place in range(8)]
    columns.append(TableColumn("runs", lambda _: ", ".join(f"sig_run{place}" for place in range(6)), "text"))
    rows = Table(columns, ("pair_strided_indep", "x" * 200))
    document = PageDocument("title", [Section("all", "All", "All", [rows])])
    page = write_page([document], tmp_path / "page.html").path
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    heights = (
        "const range = document.createRange(); return [...document.querySelectorAll('tbody tr:first-child td')].map("
    )
    heights += "(cell) => { range.selectNodeContents(cell); return range.getClientRects().length; })"
    lines = browser.execute_script(heights)
    assert lines[:-1] == [1] * 8
    assert lines[-1] <= 4
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
