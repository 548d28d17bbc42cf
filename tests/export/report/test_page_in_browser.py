"""The report in a real browser: it loads nothing, nothing throws, it zooms, links lead, and no text is cut."""

import json
import time
from typing import Any

import pytest

PAGES = ("ncckpt4", "hostile", "broken_race_corruption", "ior384")
SETTLED = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
"""


def settle(page: Any) -> None:
    page.browser.execute_async_script(SETTLED)


def logged(page: Any) -> list[Any]:
    return [json.loads(entry["message"])["message"] for entry in page.browser.get_log("performance")]


def requested_addresses(page: Any) -> list[str]:
    return [
        event["params"]["request"]["url"] for event in logged(page) if event["method"] == "Network.requestWillBeSent"
    ]


@pytest.mark.parametrize("name", PAGES)
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
    assert "[9,737 characters]" in text  # of the long name the characters left out are counted


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
if (document.documentElement.scrollWidth > innerWidth) cut.push(`page: ${document.documentElement.scrollWidth}`);
for (const element of document.querySelectorAll('body *')) {
  if (element.closest('.hint') || element.closest('svg') || element.matches('thead, thead *')) continue;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  if (!element.textContent.trim() || style.visibility === 'hidden' || box.width === 0) continue;
  const clips = style.overflowX === 'hidden' || style.overflowX === 'clip' || style.textOverflow === 'ellipsis';
  if (clips && element.scrollWidth > element.clientWidth + 1) cut.push(`${element.tagName}.${element.className}`);
  if (!element.closest('.wide') && (box.right > innerWidth + 1 || box.left < -1)) {
    cut.push(`${element.tagName}.${element.className} reaches ${Math.round(box.right)}`);
  }
}
return cut;
"""


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("name", ["ncckpt4", "hostile", "broken_race_corruption"])
def test_no_text_is_cut(opened, name, width):
    page = opened(name, width=width)
    page.run("for (const part of document.querySelectorAll('details')) part.open = true")
    settle(page)
    assert page.run(CUT) == []


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


def test_a_large_page_opens_in_under_two_seconds(opened):
    began = time.monotonic()
    page = opened("ior384")
    settle(page)
    assert page.run("return performance.timing.domComplete - performance.timing.navigationStart") < 2000
    assert time.monotonic() - began < 20
