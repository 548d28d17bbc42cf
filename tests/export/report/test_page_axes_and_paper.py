"""Axes are the same on every screen, no mark hides another, jumps arrive, and paper shows all."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import otf2
import pytest
from iostrata import open_trace, write_report
from otf2.enums import (
    IoAccessMode,
    IoHandleFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    LocationGroupType,
    LockType,
)

SETTLED = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
"""
LAST_GUARD_S = 600
"""Ends what would wait forever; no test is about time."""
SCROLLED = """
const box = document.querySelector('#timeline .scroll').getBoundingClientRect();
return [box.top, box.left, document.querySelector('#timeline .scroll').scrollTop, innerHeight];
"""


def settle(page: Any) -> None:
    page.browser.execute_async_script(SETTLED)


def tops(page: Any) -> list[str]:
    settle(page)
    return list(page.run("return [...document.querySelectorAll('#bandwidth canvas')].map((c) => c.dataset.top)"))


@pytest.mark.parametrize("name", ["ior384", "ncckpt4"])
def test_the_axis_of_bandwidth_does_not_depend_on_the_screen(opened, name):
    found = {width: tops(opened(name, width=width, height=4000)) for width in (400, 800, 1600)}
    assert any(found[400])
    assert found[400] == found[800] == found[1600]


def test_the_peak_is_that_of_the_signal_itself(opened, trace_of):
    contents = opened("ior384").run("return JSON.parse(document.getElementById('contents').textContent)")
    for curve in contents["curves"]:
        signal = trace_of("ior384").layers[curve["layer"]].bandwidth(curve["direction"])
        assert curve["peak"]["rate"] == signal.values.max()
        place = signal.values.argmax()
        assert curve["peak"]["length_s"] == pytest.approx(signal.times[place + 1] - signal.times[place])
    heads = opened("ior384").run("return [...document.querySelectorAll('.panel-head')].map((e) => e.textContent)")
    assert "peak 150 GB/s for 2.98 µs" in heads[0]


def test_one_scale_and_a_logarithmic_one(opened):
    page = opened("ncckpt4", height=4000)
    own = tops(page)
    page.run("[...document.querySelectorAll('#bandwidth input')][0].click()")
    assert set(filter(None, tops(page))) != set(filter(None, own))
    assert len(set(filter(None, tops(page)))) == 1
    drawn = """
    const canvas = document.querySelectorAll('#bandwidth canvas')[0];
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 3; i < data.length; i += 4) count += data[i] > 200;
    return count;
    """
    before = page.run(drawn)
    page.run("[...document.querySelectorAll('#bandwidth input')][2].click()")
    settle(page)
    assert page.run(drawn) > before


def report_of_a_thread(folder: Path, record: Callable[[Any, Callable[[str], Any]], None]) -> Path:
    """Write the report of one thread; `record` gets its writer, and what makes POSIX handles by the names of files."""
    with otf2.writer.open(str(folder / "trace"), archive_name="traces", timer_resolution=10**6) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        posix = definitions.io_paradigm("POSIX", "POSIX", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        group = definitions.location_group("MPI Rank 0", LocationGroupType.PROCESS, node)

        def handle_of(name: str) -> Any:
            file = definitions.io_regular_file(name, node)
            return definitions.io_handle("", file, posix, IoHandleFlag.NONE, None, None)

        record(trace.event_writer("thread", group=group), handle_of)
    return write_report(open_trace(folder / "trace" / "traces.otf2"), folder / "report.html").path


@pytest.fixture(scope="module")
def many_small_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report of 1000 writes, each flushed and between an open and a close, within 1 s; at its end a lock."""
    folder = tmp_path_factory.mktemp("small-files")

    def record(writer: Any, handle_of: Callable[[str], Any]) -> None:
        handle = handle_of("/data/a")
        for begin in range(0, 1_000_000, 1000):
            writer.io_create_handle(begin, handle, IoAccessMode.WRITE_ONLY, 0, 0)
            writer.io_operation_begin(begin + 100, handle, IoOperationMode.WRITE, 0, 4096, 1)
            writer.io_operation_complete(begin + 700, handle, 4096, 1)
            writer.io_operation_begin(begin + 710, handle, IoOperationMode.FLUSH, 0, 0, 2)
            writer.io_operation_complete(begin + 720, handle, 0, 2)
            writer.io_destroy_handle(begin + 800, handle)
        writer.io_acquire_lock(1_000_000, handle, LockType.EXCLUSIVE)

    return report_of_a_thread(folder, record)


COLOURS = """
const canvas = document.querySelector(arguments[0]);
const { width, height } = canvas;
const { data } = canvas.getContext('2d').getImageData(arguments[1] ? width - 2 : 0, 0, arguments[1] || width, height);
const style = getComputedStyle(document.documentElement);
return ['--write', '--flush', '--open', '--close', '--other'].map((name) => {
  const hex = style.getPropertyValue(name).trim().slice(1);
  const [r, g, b] = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
  let found = 0;
  for (let i = 0; i < data.length; i += 4) {
    found += Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12;
  }
  return found;
});
"""


def test_no_kind_hides_another_where_they_fall_on_one_place(opened, many_small_files):
    from selenium.webdriver.support.ui import WebDriverWait

    place = "#timeline canvas"
    page = opened("ncckpt4")
    page.browser.get(many_small_files.as_uri())
    page.run("document.querySelector(arguments[0]).scrollIntoView({behavior: 'instant'})", place)
    # It is drawn once it is seen to be in view, which takes no fixed number of frames.
    WebDriverWait(page.browser, LAST_GUARD_S).until(lambda _: any(page.run(COLOURS, place)))
    settle(page)
    write, flush, opens, closes, locks = page.run(COLOURS, place)
    assert write > 1000
    # A flush takes a sixtieth of the time of a write; they share the height, and all else is a stripe beside them.
    assert flush == pytest.approx(write, rel=0.5)
    assert min(opens, closes) > 500
    assert write + flush > opens + closes
    assert locks > 0
    # What is at the very end is seen.
    assert page.run(COLOURS, place, 2)[-1] > 0


def test_a_jump_from_a_finding_shows_its_rows(opened):
    page = opened("ior384")
    settle(page)
    page.run("""
    const found = [...document.querySelectorAll('#findings .notice')];
    const slow = found.find((e) => e.textContent.includes('ranks 96, 97'));
    slow.querySelector('a').click();
    """)
    settle(page)
    settle(page)
    top, left, scrolled, height = page.run(SCROLLED)
    assert scrolled > 0
    assert 0 <= top < height - 100
    hint = page.run(
        """
        const plot = document.querySelector('#timeline .plot');
        const [clientX, clientY] = [arguments[0] + 300, arguments[1] + 30];
        plot.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, pointerType: 'mouse' }));
        return document.querySelector('.hint').innerText;
        """,
        left,
        top,
    )
    assert "rank 96," in hint


def test_the_stretch_shown_is_in_the_address_and_there_after_a_reload(opened):
    from selenium.webdriver.support.ui import WebDriverWait

    page = opened("ncckpt4")
    settle(page)
    # All keys within one script: the address is written some time after the last.
    press = """
        for (const key of arguments)
            document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', { key }));
        """
    shown = "return document.querySelector('.time-tools output').textContent"
    page.run(press, "+", "ArrowRight")
    wait = WebDriverWait(page.browser, LAST_GUARD_S)
    wait.until(lambda _: page.run("return location.hash").startswith("#t="))
    before = page.run(shown)
    address = page.run("return location.href")
    page.browser.get("about:blank")
    page.browser.get(address)
    settle(page)
    assert page.run(shown) == before
    page.run(press, "0")
    wait.until(lambda _: page.run("return location.hash") == "")


def test_a_link_followed_at_once_after_a_zoom_stays_in_the_address(opened):
    page = opened("ncckpt4")
    settle(page)
    # Timers of one length end in the order in which they began, so this one ends behind that of the address.
    followed = page.browser.execute_async_script(
        """
        const done = arguments[arguments.length - 1];
        document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
        location.hash = '#layers';
        setTimeout(() => done(location.hash), 250);
        """
    )
    assert followed == "#layers"


def test_paper_shows_what_is_folded_and_labels_at_their_size(opened):
    page = opened("ncckpt4", width=1600)
    folded = "return document.querySelectorAll('details:not([open]):not(.tools):not(.calls details)').length"
    wide = "return [...document.querySelectorAll('#bandwidth canvas, #timeline canvas')].map((c) => c.width)"
    settle(page)
    before = page.run(folded)
    assert before > 3
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run(folded) == 0
    assert set(page.run(wide)) == {1400}
    page.run("dispatchEvent(new Event('afterprint'))")
    settle(page)
    assert page.run(folded) == before
    assert 1400 > page.run(wide)[0] > 800
    # What is not in sight is drawn anew once it is.
    page.run("document.getElementById('timeline').scrollIntoView({behavior: 'instant'})")
    settle(page)
    settle(page)
    assert page.run(wide)[-1] > 1400


def test_two_threads_side_by_side(opened):
    page = opened("ncckpt4", address="#t=0.25:0.35", height=4000)
    settle(page)
    stacks = page.run("return JSON.parse(document.getElementById('contents').textContent)")["stacks"]
    io = open_trace(Path(__file__).parents[3] / "fixtures" / "ncckpt4").calls.cost.io
    assert [stacks["threads"]["rank"][row] for row in (0, -1)] == [io.argmax(), io.argmin()]
    assert [stacks["threads"]["io_s"][row] for row in (0, -1)] == [io.max(), io.min()]
    assert len(page.run("return [...document.querySelectorAll('#stacks select')]")) == 2
    hint = page.run("""
    const plots = [...document.querySelectorAll('#stacks .plot')];
    const read = (plot, share, y) => {
      const box = plot.getBoundingClientRect();
      const [clientX, clientY] = [box.left + 96 + share * (box.width - 96), box.top + y];
      plot.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, pointerType: 'mouse' }));
      return document.querySelector('.hint').innerText;
    };
    return [read(plots[1], 0.3, 20), read(plots[3], 0.3, 20)];
    """)
    # While rank 0 writes the fill values, rank 1 waits in a barrier.
    assert "MPI_File_write_at (MPI-IO)" in hint[0]
    assert "write: MPI-IO /scratch/demo/run/ncckpt4/out.nc" in hint[0]
    assert "MPI_Barrier (MPI)" in hint[1]


def test_evidence_stands_beside_its_name_on_a_narrow_screen_too(opened):
    page = opened("ncckpt4", width=400, height=4000)
    page.run("document.querySelectorAll('#findings details').forEach((e) => { e.open = true; })")
    beside = page.run("""
    const box = (one) => one.getBoundingClientRect();
    return [...document.querySelectorAll('#findings dt')].map((e) => [box(e), box(e.nextSibling)])
      .map(([name, value]) => name.top === value.top && name.right < value.left && value.right <= innerWidth);
    """)
    assert beside
    assert all(beside)


def test_an_axis_stays_with_its_picture_on_paper(opened):
    page = opened("ncckpt4")
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    before = "return [...document.querySelectorAll('.plot.axis')].map((e) => getComputedStyle(e).breakBefore)"
    found = page.run(before)
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(found) > 3
    assert set(found) == {"avoid"}


def test_a_stretch_too_short_to_tell_its_ends_apart_is_told_as_one_time(opened):
    page = opened("ckpt16")
    assert "15.5 s" in page.run("return [...document.querySelectorAll('.words details a')].map((e) => e.textContent)")


def test_a_jump_to_metadata_goes_to_the_rank_that_is_longest(opened):
    page = opened("ckpt16")
    link, evidence = page.run("""
    const found = [...document.querySelectorAll('#findings .notice')];
    const one = found.find((e) => e.textContent.includes('metadata-time'));
    return [one.querySelector('a').hash, one.querySelector('dl').textContent];
    """)
    rank = re.search(r"busiest rank(\d+)", evidence)[1]
    assert f"&rank={rank}" in link
    assert "&layer=MPI-IO" in link


def test_a_single_size_of_requests_is_no_bar_as_wide_as_the_picture(opened, many_small_files):
    page = opened("ncckpt4")
    page.browser.get(many_small_files.as_uri())
    page.run("document.getElementById('sizes').scrollIntoView({behavior: 'instant'})")
    settle(page)
    bars = "return [...document.querySelectorAll('#sizes rect.write')].map((e) => Number(e.getAttribute('width')))"
    widths = page.run(bars)
    assert len(widths) == 1
    assert 20 < widths[0] <= 42
    caption = page.run("return document.querySelector('#sizes figcaption').textContent")
    assert "highest bar: 1,000 filled, 4.1 MB outlined" in caption


def test_labels_of_request_sizes_stand_apart(opened, tmp_path):
    def record(writer: Any, handle_of: Callable[[str], Any]) -> None:
        handle = handle_of("/data/a")
        for number, size in enumerate((2**16, 2**19)):
            writer.io_operation_begin(100 * number, handle, IoOperationMode.WRITE, 0, size, 1)
            writer.io_operation_complete(100 * number + 50, handle, size, 1)

    page = opened("ncckpt4")
    page.browser.get(report_of_a_thread(tmp_path, record).as_uri())
    page.run("document.getElementById('sizes').scrollIntoView({behavior: 'instant'})")
    settle(page)
    apart = page.run("""
    const boxes = [...document.querySelectorAll('#sizes svg text')].map((e) => e.getBoundingClientRect());
    return boxes.slice(1).map((box, place) => box.left - boxes[place].right);
    """)
    assert apart
    assert all(one > 4 for one in apart)


def test_what_a_button_would_show_is_counted_on_paper(opened, tmp_path):
    def record(writer: Any, handle_of: Callable[[str], Any]) -> None:
        for number in range(70):
            handle = handle_of(f"/data/{number}")
            writer.io_create_handle(100 * number, handle, IoAccessMode.WRITE_ONLY, 0, 0)
            writer.io_destroy_handle(100 * number + 50, handle)

    page = opened("ncckpt4")
    page.browser.get(report_of_a_thread(tmp_path, record).as_uri())
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    told = page.run("return [...document.querySelectorAll('#handles li')].map((e) => e.innerText).at(-1)")
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert told.strip() == "and 10 more"


@pytest.mark.parametrize(
    ("width", "shown"), [(400, "grid"), (700, "table-row"), (800, "table-row"), (1600, "table-row")]
)
def test_a_table_of_few_columns_stays_one_where_it_fits(opened, width, shown):
    page = opened("ncckpt4", width=width, height=4000)
    tables = page.run("""
    return [...document.querySelectorAll('table.few')].map((table) => [
      getComputedStyle(table.tBodies[0].rows[0]).display, table.scrollWidth - table.parentElement.clientWidth,
      getComputedStyle(table.querySelector('td'), '::before').content !== 'none']);
    """)
    assert len(tables) >= 2
    assert all(display == shown and over <= 0 for display, over, _ in tables)
    lines = """
    const name = arguments[0].firstChild;
    const range = document.createRange();
    range.selectNodeContents(name);
    return new Set([...range.getClientRects()].map((box) => box.top)).size;
    """
    names = page.browser.find_elements("css selector", "table.few tbody th.name")
    assert all(page.run(lines, name) == 1 for name in names)
    # Each number has its name beside it, or above.
    assert all(named is (shown == "grid") for *_, named in tables)
