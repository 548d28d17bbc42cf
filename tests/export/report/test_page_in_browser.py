"""The report in a real browser: it loads nothing, nothing throws, it zooms, links lead, and no text is cut."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import otf2
import pytest
from iostrata import open_trace, write_report
from iostrata.export.page.html import page as written_page
from iostrata.export.report.write import PICTURES
from otf2.enums import IoAccessMode, IoHandleFlag, IoParadigmClass, IoParadigmFlag, LocationGroupType

PAGES = ("ncckpt4", "hostile", "broken_race_corruption", "ior384")
SETTLED = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
"""


LAST_GUARD_S = 600
"""Ends what would wait forever; no test is about time."""


def settle(page: Any) -> None:
    page.browser.execute_async_script(SETTLED)


def logged(page: Any) -> list[Any]:
    return [json.loads(entry["message"])["message"] for entry in page.browser.get_log("performance")]


def requested_addresses(page: Any) -> list[str]:
    return [
        event["params"]["request"]["url"] for event in logged(page) if event["method"] == "Network.requestWillBeSent"
    ]


@pytest.mark.parametrize("name", [*PAGES, "many ranks"])
def test_a_report_opens_without_errors_and_loads_nothing(opened, reports, name):
    page = opened(name)
    settle(page)
    page.run("window.scrollTo(0, document.documentElement.scrollHeight)")
    settle(page)
    assert page.run("return document.documentElement.dataset.ready") == "true"
    assert [entry for entry in page.browser.get_log("browser") if entry["level"] != "INFO"] == []
    assert set(requested_addresses(page)) == {reports(name).as_uri()}
    assert page.run("return performance.getEntriesByType('resource').length") == 0


def test_names_of_the_trace_are_text_and_nothing_else(opened):
    page = opened("hostile")
    settle(page)
    assert page.run("return window.broken") is None
    own = {"script": 2, "img": 0, "iframe": 0, "object": 0, "link": 0}
    for tag, count in own.items():
        assert page.run(f"return document.querySelectorAll({tag!r}).length") == count, tag
    text = page.run("return document.body.innerText")
    assert "<img src=https://example.invalid/x.png onerror=window.broken=2>" in text
    assert "line\\u{a}break" in text
    assert "\\u{202e}gnp.exe" in text
    assert "[9,637 characters]" in text  # of the long name the characters left out are counted


def test_the_policy_lets_nothing_but_our_own_code_run(opened):
    page = opened("ncckpt4")
    page.run(
        "const script = document.createElement('script'); script.textContent = 'window.foreign = 1';"
        "document.body.append(script);"
        "const image = document.createElement('img'); image.src = 'https://example.invalid/x.png';"
        "document.body.append(image);"
    )
    settle(page)
    assert page.run("return window.foreign") is None
    assert any("Content Security Policy" in entry["message"] for entry in page.browser.get_log("browser"))
    refused = [event for event in logged(page) if event["method"] == "Network.loadingFailed"]
    assert [event["params"]["blockedReason"] for event in refused] == ["csp"]


def times(page: Any) -> tuple[float, float]:
    text = page.run("return document.querySelector('.time-tools output').textContent")
    start, end = (float(part.strip().removesuffix(" s")) for part in text.split("…"))
    return start, end


def test_dragging_zooms_all_panels_and_a_double_click_shows_the_whole_run(opened):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    page = opened("ncckpt4")
    settle(page)
    whole = times(page)
    plots = page.browser.find_elements(By.CSS_SELECTOR, ".plot")
    before = page.run("return arguments[0].querySelector('canvas').toDataURL()", plots[3])
    ActionChains(page.browser).move_to_element_with_offset(plots[1], -100, 0).click_and_hold().move_by_offset(
        150, 0
    ).release().perform()
    settle(page)
    zoomed = times(page)
    assert whole[0] < zoomed[0] < zoomed[1] < whole[1]
    assert page.run("return arguments[0].querySelector('canvas').toDataURL()", plots[3]) != before
    ActionChains(page.browser).double_click(plots[0]).perform()
    settle(page)
    assert times(page) == whole
    assert page.run("return arguments[0].querySelector('canvas').toDataURL()", plots[3]) == before


def test_the_keyboard_zooms_moves_and_returns(opened):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    page = opened("ncckpt4")
    settle(page)
    whole = times(page)
    plot = page.browser.find_element(By.CSS_SELECTOR, ".plot")
    plot.send_keys("+")
    closer = times(page)
    assert closer[1] - closer[0] == pytest.approx((whole[1] - whole[0]) / 2, rel=0.01)
    plot.send_keys(Keys.ARROW_RIGHT)
    assert times(page)[0] > closer[0]
    plot.send_keys("0")
    assert times(page) == whole
    style = page.run("arguments[0].focus(); return getComputedStyle(arguments[0]).outlineStyle", plot)
    assert style != "none"


def test_shift_and_arrows_read_values_off_a_plot(opened):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    page = opened("ncckpt4")
    settle(page)
    whole = times(page)
    plot = page.browser.find_elements(By.CSS_SELECTOR, "#bandwidth .plot")[1]
    page.run("arguments[0].focus()", plot)
    read = []
    for _ in range(2):
        ActionChains(page.browser).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT).key_up(Keys.SHIFT).perform()
        read.append(hint(page))
    assert all("netCDF write at " in text and "B/s over" in text for text in read)
    assert read[0] != read[1]
    assert times(page) == whole
    page.run("arguments[0].blur()", plot)
    assert hint(page) == ""


def touch(page: Any, kind: str, *points: tuple[float, float]) -> None:
    touches = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
    page.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})


def test_two_fingers_zoom_and_one_moves(opened):
    page = opened("ncckpt4", width=400)
    settle(page)
    page.browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    try:
        page.run("document.querySelectorAll('.plot')[1].scrollIntoView({block: 'center', behavior: 'instant'})")
        box = page.run(
            "const b = document.querySelectorAll('.plot')[1].getBoundingClientRect(); return [b.left, b.top]"
        )
        y, whole = box[1] + 30, times(page)
        touch(page, "touchStart", (box[0] + 180, y), (box[0] + 240, y))
        for step in range(1, 9):
            touch(page, "touchMove", (box[0] + 180 - 10 * step, y), (box[0] + 240 + 10 * step, y))
        touch(page, "touchEnd")
        settle(page)
        zoomed = times(page)
        # What was 60 pixels apart is now 220 apart.
        assert zoomed[1] - zoomed[0] == pytest.approx((whole[1] - whole[0]) * 60 / 220, rel=0.02)
        touch(page, "touchStart", (box[0] + 180, y))
        for step in range(1, 9):
            touch(page, "touchMove", (box[0] + 180 - 10 * step, y))
        touch(page, "touchEnd")
        settle(page)
        moved = times(page)
        assert moved[1] - moved[0] == pytest.approx(zoomed[1] - zoomed[0], rel=1e-3)
        assert moved[0] > zoomed[0]
    finally:
        page.browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def hint(page: Any) -> str:
    """Return the text of the hint, empty where it is hidden."""
    return str(
        page.run(
            "const h = document.querySelector('.hint'); return h.style.visibility === 'visible' ? h.innerText : ''"
        )
    )


def test_definitions_are_reached_by_keyboard(opened, trace_of):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    page = opened("ncckpt4")
    cells = page.browser.find_elements(By.CSS_SELECTOR, "#layers td[title]")
    stops = page.run(
        "const table = document.querySelector('#layers table');"
        "return [...table.querySelectorAll('td')].filter((e) => e.tabIndex === 0).length"
    )
    assert stops == 1
    page.run("arguments[0].focus()", cells[0])
    assert "netCDF read: 4." in hint(page)
    assert "Data transfers" in hint(page)
    cells[0].send_keys(Keys.ARROW_RIGHT)
    assert "Bytes moved" in hint(page)
    page.browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert f"netCDF write: {trace_of('ncckpt4').layers['netCDF'].statistics('write').bytes:,} B" in hint(page)
    page.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert hint(page) == ""
    # Every group of numbers has one stop of the Tab key, and nothing with a hint is out of reach.
    lost = page.run(
        "return [...document.querySelectorAll('main [title]')].filter((e) => !e.hasAttribute('tabindex')"
        " && !e.matches('a, button, label, summary')).map((e) => e.outerHTML.slice(0, 80))"
    )
    assert lost == []


def test_every_number_in_a_table_says_what_it_is(opened):
    page = opened("ncckpt4")
    silent = page.run(
        "return [...document.querySelectorAll('table.cards td')].filter((e) => /\\d/.test(e.textContent)"
        " && !e.title && !e.querySelector('a[title]')).map((e) => e.textContent)"
    )
    assert silent == []


def test_collective_calls_regimes_and_pairs_are_told(opened, trace_of):
    page = opened("ncckpt4")
    rows = page.run(
        "return [...document.querySelectorAll('#collectives tbody tr')].map((r) => [...r.children].map((c) =>"
        " c.textContent.replaceAll('\u00a0', ' ')))"
    )
    by_name = {row[0]: row for row in rows}
    calls = trace_of("ncckpt4").flow("MPI-IO", "POSIX", "write").collectives
    assert by_name["MPI-IO write"][1:5] == ["POSIX", str(len(calls)), "4", "1"]
    assert set(calls.participants.tolist()) == {4}
    assert set(calls.movers.tolist()) == {1}
    assert len(page.run("return [...document.querySelectorAll('#collectives .panel canvas')]")) == len(rows)
    text = page.run("return document.getElementById('periods').innerText")
    assert "MPI-IO → POSIX, write" in text.replace("\u00a0", " ")
    regimes = [entry for entry in page.run(CONTENTS)["periods"]["layers"] if entry["regimes"]]
    assert len(regimes) == 5
    for entry in regimes:
        assert f"{entry['layer']} {entry['direction']}, regime 1" in text
        assert f"{entry['regimes'][0]['confidence']:.2f}" in text


CONTENTS = "return JSON.parse(document.getElementById('contents').textContent)"


def test_stretches_of_a_pair_are_told_with_links_to_them(opened, tmp_path):
    page = opened("ncckpt4")
    contents = page.run(CONTENTS)
    pair = next(one for one in contents["compare"]["pairs"] if one["verdict"] == "same")
    pair["stretches"] = [
        {"start_s": 1.0, "end_s": 4.0, "upper_period_s": 0.4, "lower_period_s": 0.4, "relation": "same"},
        {"start_s": 4.0, "end_s": 8.0, "upper_period_s": 0.4, "lower_period_s": None, "relation": "absent-below"},
    ]
    path = tmp_path / "stretches.html"
    path.write_text(written_page(contents, "stretches", PICTURES))
    page.browser.get(path.as_uri())
    rows = page.run(
        "return [...document.querySelectorAll('#periods tr')].map((r) => [...r.children].map((c) => c.textContent"
        ".replaceAll('\u00a0', ' '))).filter((cells) => cells.length === 5 && cells[4].includes('below'))"
    )
    assert [row[1:] for row in rows] == [["4 s to 8 s", "400 ms", "–", "absent-below"]]


def test_the_heading_of_a_panel_is_the_verdict_with_its_stretches(opened, tmp_path):
    page = opened("ncckpt4")
    contents = page.run(CONTENTS)
    contents["curves"][0]["verdict"] = "every 0.200 s from 0.100 s to 4.10 s, then every 0.450 s to 9.07 s"
    path = tmp_path / "regimes.html"
    path.write_text(written_page(contents, "regimes", PICTURES))
    page.browser.get(path.as_uri())
    headings = page.run(
        "return [...document.querySelectorAll('#bandwidth .panel-head .muted')].map((e) => e.textContent)"
    )
    assert headings == [curve["verdict"] for curve in contents["curves"]]


def test_evidence_has_its_units_and_no_empty_entries(opened):
    page = opened("ncckpt4")
    entries = page.run(
        "return [...document.querySelectorAll('#findings dl')].map((list) => Object.fromEntries("
        "[...list.querySelectorAll('dt')].map((e) => [e.textContent, e.nextSibling.textContent])))"
    )
    fills = next(entry for entry in entries if "fill bytes" in entry)
    assert fills["share of program bytes"] == "100 %"
    assert fills["bytes written twice"] == "83,886,288 B"
    amplified = next(entry for entry in entries if "steps" in entry)
    assert amplified["bytes read inside writes"] == "0 B"
    assert amplified["steps"].startswith("netCDF → HDF5: × 1.00; HDF5 → MPI-IO: × 2.00")
    assert all(text.strip() for entry in entries for text in entry.values())


def test_evidence_says_where_its_list_of_ranks_goes_on(opened):
    told = (
        "return [...document.querySelectorAll('#findings dt')].map((e) => [e.textContent, e.nextSibling.textContent])"
    )
    entries = opened("ior384").run(told)
    assert ["ranks", "0–63, …"] in entries
    assert ["slow ranks", "96–159, …"] in entries
    assert ["ranks", "0–3"] in opened("ncckpt4").run(told)


@pytest.mark.parametrize("events", [0, 2])
def test_a_trace_without_io_says_so_and_shows_no_empty_sections(browser, tmp_path, events):
    with otf2.writer.open(str(tmp_path / "trace"), timer_resolution=10**6) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        group = definitions.location_group("MPI Rank 0", LocationGroupType.PROCESS, node)
        writer = trace.event_writer("thread", group=group)
        if events:
            main = definitions.region("main")
            writer.enter(0, main)
            writer.leave(2_000_000, main)
    path = write_report(open_trace(tmp_path / "trace" / "traces.otf2"), tmp_path / "report.html").path
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(path.as_uri())
    assert browser.execute_script("return document.documentElement.dataset.ready") == "true"
    assert not browser.get_log("browser")
    headline = browser.execute_script("return [...document.querySelectorAll('.headline li')].map((e) => e.textContent)")
    assert headline == ["The trace holds no I/O records; the guide's page on recording tells how to record them."]
    assert browser.execute_script("return document.querySelectorAll('section, .bar, table, canvas').length") == 0
    facts = browser.execute_script("return document.querySelector('.facts').textContent")
    assert ("Length 2\N{NO-BREAK SPACE}s" in facts) == (events > 0)
    assert ("Length" in facts) == (events > 0)


def test_a_run_that_moves_no_bytes_shows_its_metadata_operations(browser, tmp_path):
    ui = pytest.importorskip("selenium.webdriver.support.ui")
    with otf2.writer.open(str(tmp_path / "trace"), timer_resolution=10**6) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        group = definitions.location_group("MPI Rank 0", LocationGroupType.PROCESS, node)
        writer = trace.event_writer("thread", group=group)
        posix = definitions.io_paradigm("POSIX", "POSIX", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        file = definitions.io_regular_file("/data/a", node)
        handle = definitions.io_handle("", file, posix, IoHandleFlag.NONE, None, None)
        for time in range(0, 100_000, 1000):
            writer.io_create_handle(time, handle, IoAccessMode.WRITE_ONLY, 0, 0)
            writer.io_destroy_handle(time + 500, handle)
    path = write_report(open_trace(tmp_path / "trace" / "traces.otf2"), tmp_path / "report.html").path
    browser.get(path.as_uri())
    told = browser.execute_script("return document.getElementById('bandwidth').innerText")
    assert told.startswith("Metadata operations of the layers\n")
    assert "POSIX: 200 operations, every 500.000\N{NO-BREAK SPACE}µs" in told
    shown = "return document.querySelectorAll('#bandwidth input, #bandwidth .legend').length"
    assert browser.execute_script(shown) == 0
    pictures = (
        "return ['#bandwidth :is(canvas, svg)', '#timeline canvas'].map((p) => document.querySelectorAll(p).length)"
    )
    wait = ui.WebDriverWait(browser, LAST_GUARD_S)
    # They are drawn once they are seen to be in view.
    wait.until(lambda _: all(browser.execute_script(pictures)))
    assert browser.execute_script(pictures)[0] == 1
    assert browser.execute_script("return document.getElementById('spectra')") is None
    assert not browser.get_log("browser")


def test_hints_do_not_show_what_rounding_left(opened, tmp_path):
    page = opened("ncckpt4")
    contents = page.run(CONTENTS)
    for entry in contents["periods"]["layers"]:
        entry["recurrence_s"] = 0.4500000000000001
        for regime in entry["regimes"]:
            regime["period_s"] = 0.1 + 0.2
    path = tmp_path / "rounding.html"
    path.write_text(written_page(contents, "rounding", PICTURES))
    page.browser.get(path.as_uri())
    hints = page.run("return [...document.querySelectorAll('[title]')].map((e) => e.title)")
    assert sum(": 0.45 s. " in hint for hint in hints) == len(contents["periods"]["layers"])
    assert any("regime 1: 0.3 s. " in hint for hint in hints)
    assert not [hint for hint in hints if re.search(r"[1-9]\d*\.\d{12,}|\b0\.0*[1-9]\d{11,}", hint)]


def test_introductions_stay_whole_and_with_their_heading_in_print(opened):
    page = opened("ncckpt4")
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    kept = page.run(
        "return ['h2', 'section > p', 'section > .legend'].map((what) => [...document.querySelectorAll(what)]"
        ".every((e) => getComputedStyle(e).breakInside === 'avoid' && getComputedStyle(e).breakAfter === 'avoid'))"
    )
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert kept == [True, True, True]


def test_everything_that_acts_can_be_reached_and_named(opened):
    page = opened("ncckpt4")
    nameless = page.run(
        "return [...document.querySelectorAll('a[href],button,input,select,.plot')]"
        ".filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).length"
    )
    assert nameless == 0
    unreachable = page.run("return [...document.querySelectorAll('.plot')].filter((e) => e.tabIndex !== 0).length")
    assert unreachable == 0
    assert page.run("return document.documentElement.lang") == "en"
    assert page.run("return [...document.querySelectorAll('h1')].length") == 1


def test_links_lead_to_a_section_and_to_a_time(opened):
    page = opened("ncckpt4")
    targets = page.run("return [...document.querySelectorAll('nav a')].map((e) => e.getAttribute('href').slice(1))")
    assert len(targets) > 6
    assert all(page.run("return document.getElementById(arguments[0]) !== null", target) for target in targets)
    page.run(
        "document.querySelector('#periods details').open = true; document.querySelector('#periods details a').click()"
    )
    settle(page)
    start, end = times(page)
    assert end - start < 1
    page = opened("ncckpt4", address="#t=2:4&in=timeline")
    settle(page)
    assert times(page) == (2, 4)


@pytest.mark.parametrize(
    ("finding", "layers"), [("fill-values", ["netCDF", "POSIX"]), ("funnelled-collective", ["MPI-IO", "POSIX"])]
)
def test_a_finding_leads_to_the_rows_of_all_layers_that_it_names(opened, finding, layers):
    page = opened("ncckpt4")
    link = f"""return [...document.querySelectorAll('#findings a[href*="in=timeline"]')]
        .find((one) => one.closest('.notice').textContent.includes('{finding}'))"""
    page.run(
        f"{link.replace('return', 'const link =')}; link.closest('details')?.setAttribute('open', ''); link.click()"
    )
    settle(page)
    assert page.run("return document.querySelector('#timeline select').value").split(",") == layers
    assert page.run("return document.querySelector('#timeline select').selectedOptions[0].text") == ", ".join(layers)


def test_going_back_from_a_link_to_a_time_shows_what_was_shown_before(opened):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    page = opened("ncckpt4")
    page.run("document.querySelector('#periods details').open = true")
    # Behind the page's own listener: what is counted has been followed.
    page.run("window.followed = 0; addEventListener('hashchange', () => { window.followed += 1; })")
    whole = times(page)

    def follow(selector: str) -> tuple[float, float]:
        # A click of a person: what a script does to the address may leave no entry in the history.
        before = page.run("return window.followed")
        page.browser.find_element(By.CSS_SELECTOR, selector).click()
        return arrived(before)

    def back() -> tuple[float, float]:
        before = page.run("return window.followed")
        page.run("history.back()")
        return arrived(before)

    def arrived(before: int) -> tuple[float, float]:
        WebDriverWait(page.browser, LAST_GUARD_S).until(lambda _: page.run("return window.followed") == before + 1)
        return times(page)

    assert follow("#periods details a[href^='#t=']") != whole
    assert back() == whole
    found = follow("#periods details a[href^='#t=']")
    assert found != whole
    # A link to a section leaves the time as it is.
    assert follow("nav a[href='#layers']") == found
    assert back() == found
    assert back() == whole


def test_the_handle_tree_folds_and_is_searched(opened):
    from selenium.webdriver.common.by import By

    page = opened("ncckpt4")
    tree = page.browser.find_element(By.CSS_SELECTOR, "ul.tree")

    def items() -> int:
        return int(page.run("return arguments[0].querySelectorAll('[role=treeitem]').length", tree))

    buttons = {b.text: b for b in page.browser.find_elements(By.CSS_SELECTOR, "#handles .tools button")}
    buttons["unfold all"].click()
    all_items = items()
    assert all_items == 15
    buttons["fold all"].click()
    assert items() < all_items
    page.browser.find_element(By.CSS_SELECTOR, "#handles input").send_keys("run.log")
    assert items() == 2
    assert "2 handles match" in page.browser.find_element(By.CSS_SELECTOR, "#handles .tools").text


CUT = """
const cut = [];
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth) cut.push(`page: ${root.scrollWidth}`);
for (const element of document.querySelectorAll('body *')) {
  if (element.closest('.hint') || element.closest('svg') || element.matches('thead, thead *')) continue;
  // Bars of the flame graph are as wide as their time; names are in their titles and in the tree below.
  if (element.closest('.flame')) continue;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  if (!element.textContent.trim() || style.visibility === 'hidden' || box.width === 0) continue;
  const clips = style.overflowX === 'hidden' || style.overflowX === 'clip' || style.textOverflow === 'ellipsis';
  if (clips && element.scrollWidth > element.clientWidth + 1) cut.push(`${element.tagName}.${element.className}`);
  const card = innerWidth <= 900 ? element.closest('table.cards tr') : null;
  const frame = card ? card.getBoundingClientRect() : { left: 0, right: root.clientWidth };
  const beyond = box.right > frame.right + 1 || box.left < frame.left - 1;
  if (beyond && (card || !element.closest('.wide'))) {
    cut.push(`${element.tagName}.${element.className} reaches ${Math.round(box.right)}`);
  }
}
return cut;
"""


@pytest.mark.parametrize("width", [320, 360, 400, 800, 1600])
@pytest.mark.parametrize("name", ["ncckpt4", "hostile", "broken_race_corruption"])
def test_no_text_is_cut(opened, name, width):
    page = opened(name, width=width)
    page.run("for (const part of document.querySelectorAll('details')) part.open = true")
    settle(page)
    assert page.run(CUT) == []
    # A number stays on one line, however long the name of its layer is.
    broken = page.run(
        "return [...document.querySelectorAll('table.cards td:not(.long):not(.name)')].filter((cell) => {"
        "const range = document.createRange(); range.selectNodeContents(cell);"
        "return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1; })"
        ".map((cell) => cell.textContent)"
    )
    assert broken == []


CONTRASTS = """
const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const light = ([r, g, b]) => [r, g, b].map((v) => linear(v / 255))
  .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
const behind = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const colour = parse(getComputedStyle(e).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const poor = [];
for (const element of document.querySelectorAll('body *')) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || element.closest('script, svg, noscript')) continue;
  const [one, other] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (ratio < 4.5) poor.push(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
}
const style = getComputedStyle(document.documentElement);
const rgb = (name) => {
  const probe = document.createElement('span');
  probe.style.color = style.getPropertyValue(name);
  document.body.append(probe);
  const colour = parse(getComputedStyle(probe).color);
  probe.remove();
  return light(colour);
};
const marks = ['--write', '--read', '--flush', '--open', '--close', '--other', '--phase', '--period', '--hidden'];
for (const name of marks) {
  const [one, other] = [rgb(name), rgb('--page')];
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (ratio < 3) poor.push(`${name}: ${ratio.toFixed(2)}`);
}
return poor;
"""


@pytest.mark.parametrize("dark", [False, True])
def test_contrast_is_enough_for_text_and_for_marks(opened, dark):
    page = opened("ncckpt4", dark=dark)
    assert page.run("return document.documentElement.classList.contains('dark')") is dark
    assert page.run(CONTRASTS) == []


def test_the_panels_are_drawn(opened):
    page = opened("ncckpt4")
    settle(page)
    colours = page.run(
        "const canvas = document.querySelectorAll('.plot canvas')[1];"
        "const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;"
        "const found = {};"
        "for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) {"
        "  const key = `${data[i]},${data[i + 1]},${data[i + 2]}`; found[key] = (found[key] || 0) + 1; }"
        "return found;"
    )
    style = "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim()"
    for name in ("--write", "--phase", "--period"):
        wanted = page.run(style, name).removeprefix("#")
        key = ",".join(str(int(wanted[place : place + 2], 16)) for place in (0, 2, 4))
        assert colours.get(key, 0) > 20, name


def test_the_page_of_many_ranks_has_no_more_elements_than_one_of_few(opened):
    # What makes a page slow is elements; rows beyond the first are made when they are scrolled to.
    elements = {}
    for name in ("ncckpt4", "many ranks"):
        page = opened(name)
        settle(page)
        elements[name] = page.run("return document.querySelectorAll('*').length")
    assert elements["many ranks"] < 2 * elements["ncckpt4"]


@pytest.mark.parametrize("width", [1440, 800, 500])
def test_links_lead_to_within_20_px_of_their_section(opened, width):
    page = opened("ncckpt4", width=width)
    # As everybody sees it who has not asked for less motion.
    features = [{"name": "prefers-reduced-motion", "value": "no-preference"}]
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    targets = page.run("return [...document.querySelectorAll('.bar nav a')].map((link) => link.hash)")
    assert len(targets) > 10
    for target in targets:
        page.run("scrollTo(0, 0); document.querySelector(`.bar nav a[href='${arguments[0]}']`).click()", target)
        settle(page)
        settle(page)
        top, ends = page.run(
            "const bar = document.querySelector('.bar');"
            "const covered = getComputedStyle(bar).position === 'sticky' ? bar.getBoundingClientRect().bottom : 0;"
            "return [document.querySelector(arguments[0]).getBoundingClientRect().top - covered,"
            " innerHeight + scrollY >= document.documentElement.scrollHeight - 2]",
            target,
        )
        assert ends or 0 <= top + 1 <= 21, target


ON_ITS_HEADING = """
const bar = document.querySelector('.bar');
const stays = getComputedStyle(bar).position === 'sticky' ? bar.getBoundingClientRect().bottom : 0;
const place = /&in=(\\w+)/.exec(arguments[0]);
const named = document.getElementById(place ? place[1] : arguments[0].slice(1));
const heading = (named || document.getElementById('bandwidth')).querySelector('h2');
return [heading.getBoundingClientRect().top - stays, document.documentElement.scrollHeight - innerHeight - scrollY];
"""
EVERY_LINK = "document.querySelectorAll('main a[href^=\"#\"]')"


@pytest.mark.parametrize("width", [1440, 800, 500])
@pytest.mark.parametrize("name", ["ncckpt4", "ior384"])
def test_every_link_of_the_page_lands_within_20_px_of_a_heading(opened, name, width):
    page = opened(name, width=width)
    page.run("for (const one of document.querySelectorAll('details')) one.open = true")
    settle(page)
    links = page.run(f"return [...{EVERY_LINK}].map((one) => one.hash)")
    assert sum("in=timeline" in one for one in links) > 1
    # Of the many links to a place in time the first of each kind: they differ by their times only.
    kinds = {re.sub(r"[-\d.e+]+:[-\d.e+]+", "", one): number for number, one in reversed([*enumerate(links)])}
    for number in kinds.values():
        page.run(f"scrollTo(0, 0); {EVERY_LINK}[arguments[0]].click()", number)
        settle(page)
        settle(page)
        above, left = page.run(ON_ITS_HEADING, links[number])
        assert abs(above) <= 20 or (left < 1 and above > 0), (links[number], above)


@pytest.mark.parametrize(("width", "charts"), [(1440, 4), (800, 3), (500, 2)])
def test_the_first_screen_has_the_answer_and_charts(opened, width, charts):
    page = opened("ncckpt4", width=width)
    settle(page)
    bottoms = page.run(
        "return [...document.querySelectorAll('canvas')].map((one) => one.getBoundingClientRect().bottom)"
    )
    assert sum(0 < bottom <= 900 for bottom in bottoms) >= charts
    lead = page.run(
        "const one = document.querySelector('.lead'); return [one.textContent, one.getBoundingClientRect().bottom]"
    )
    assert lead[0].startswith("I/O is 1.8 % of the run (148 ms of 8.36 s)")
    kept = page.browser.execute_script("return document.querySelector('.lead').textContent").replace(" ", "_")
    assert kept.startswith(
        "I/O_is_1.8\N{NO-BREAK SPACE}%_of_the_run_(148\N{NO-BREAK SPACE}ms_of_8.36\N{NO-BREAK SPACE}s)"
    )
    assert lead[1] < 200
    beside = page.run("return document.getElementById('findings').getBoundingClientRect().top")
    assert (beside < 400) is (width == 1440)


@pytest.mark.parametrize("width", [1440, 800, 500])
def test_every_link_lands_on_its_section(opened, width):
    page = opened("ncckpt4", width=width)
    names = page.run("return [...new Set([...document.querySelectorAll('nav a')].map((e) => e.hash.slice(1)))]")
    assert len(names) > 6
    for name in names:
        page.run("scrollTo(0, 0)")
        page.run("document.querySelector(`nav a[href='#${arguments[0]}']`).click()", name)
        settle(page)
        # Below what stays at the top of the window; the last sections cannot come up that far.
        above, left = page.run(
            """const bar = document.querySelector('.bar');
            const stays = getComputedStyle(bar).position === 'sticky' ? bar.getBoundingClientRect().bottom : 0;
            const top = document.getElementById(arguments[0]).getBoundingClientRect().top;
            return [top - stays, document.documentElement.scrollHeight - innerHeight - scrollY];""",
            name,
        )
        assert abs(above) <= 20 or (left < 1 and above > 0), (name, above)


def test_times_of_a_long_run_are_in_the_unit_of_its_texts_and_the_legend_has_what_is_drawn(browser, tmp_path):
    rows = [
        "layer,rank,mode,start,end,bytes,file",
        "POSIX,0,read,100,9000,1000000,/a",
        "POSIX,0,read,19000,20000,1000,/a",
    ]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    browser.get(write_report(open_trace(tmp_path / "table.csv"), tmp_path / "report.html").path.as_uri())
    assert (
        browser.execute_script("return document.querySelector('.time-tools output').textContent")
        == "0.0 min … 333.3 min"
    )
    legend = browser.execute_script(
        "return [...document.querySelectorAll('#bandwidth ul.legend li')].map((e) => e.innerText)"
    )
    assert [one.strip() for one in legend] == ["read: mean of each column", "phases"]


def test_findings_by_counters_are_on_the_page(browser, tmp_path):
    spec = importlib.util.spec_from_file_location("recorders", Path(__file__).parents[2] / "archives" / "recorders.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    counted = {"writes": 4000, "bytes_written": 4_000_000, "size_write_100_1k": 4000, "consec_writes": 3998}
    times = {"write_time": 9.0, "slowest_rank_time": 5.0, "write_start_timestamp": 1.0, "write_end_timestamp": 9.0}
    records = [made.counters(("POSIX", 4), 5, -1, **counted, **times, slowest_rank=1)]
    log = made.DarshanLog(modules={"POSIX": (4, records)}, names={5: "/scratch/data"}, length=10.0)
    (tmp_path / "run.darshan").write_bytes(bytes(log))
    browser.get(write_report(open_trace(tmp_path / "run.darshan"), tmp_path / "report.html").path.as_uri())
    told = browser.execute_script("return document.getElementById('findings').innerText")
    assert "small-requests · POSIX" in told
    assert "need single operations" not in told
    # There is no timeline without operations.
    assert "in the bandwidth" in told
    assert "in the timeline" not in told


def test_where_requests_lie_is_on_the_page(browser, tmp_path):
    rows = ["layer,rank,mode,start,end,bytes,file,offset"]
    rows += [f"POSIX,0,write,{place},{place + 0.5},10,/run/a,{1000 * place}" for place in range(20)]
    (tmp_path / "run.csv").write_text("\n".join(rows))
    browser.get(write_report(open_trace(tmp_path / "run.csv"), tmp_path / "report.html").path.as_uri())
    cells = browser.execute_script("return [...document.querySelectorAll('#layers tr')].map((row) => row.innerText)")
    assert any(re.sub(r"\s+", " ", one) == "POSIX write 20 5 % 90 % 5 %" for one in cells), cells
