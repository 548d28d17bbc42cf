"""A browser, reports of real archives, and an archive whose names try to break out of the page."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import otf2
import pytest
from iostrata import Trace, open_trace, write_report
from otf2.enums import IoAccessMode, IoHandleFlag, IoOperationMode, IoParadigmClass, IoParadigmFlag, LocationGroupType

FIXTURES = Path(__file__).parents[3] / "fixtures"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

LAST_GUARD_S = 600
"""Ends what would wait forever; no test is about time."""
HOSTILE_NAMES = (
    "</script><script>window.broken = 1</script>",
    "<img src=https://example.invalid/x.png onerror=window.broken=2>",
    "\"'><svg onload=window.broken=3>",
    "line\nbreak\r\ttab \x1b[31mred",
    "\u202egnp.exe\u2028\u2029",
    "<!--<script>",
    "${window.broken=4} {{7*7}} %3Cscript%3E &lt;b&gt; &#60;",
    "/scratch/" + "long" * 2500,
    "/scratch/ünï/日本語/🙂",
    "__proto__",
    "constructor",
    "",
)


@pytest.fixture(scope="session")
def trace_of() -> Callable[[str], Trace]:
    """Return a function that opens a real archive, once for all tests."""
    known: dict[str, Trace] = {}

    def opened(name: str) -> Trace:
        if name not in known:
            known[name] = open_trace(FIXTURES / name)
        return known[name]

    return opened


@pytest.fixture(scope="session")
def hostile_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write an archive with names that no report must take for markup, code or commands."""
    folder = tmp_path_factory.mktemp("hostile") / "<b>bold & 'quoted'"
    with otf2.writer.open(str(folder), archive_name="traces", timer_resolution=10**6) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("<i>node</i>", class_name="node")
        paradigms = [
            definitions.io_paradigm(name, name, IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
            for name in ("POSIX", "<script>window.broken=5</script>")
        ]
        writers = []
        for rank in range(2):
            group = definitions.location_group(f"MPI Rank {rank}<br>", LocationGroupType.PROCESS, node)
            writers.append(trace.event_writer(f"<u>thread {rank}</u>", group=group))
        for number, name in enumerate(HOSTILE_NAMES):
            file = definitions.io_regular_file(name or "/", node)
            for place, paradigm in enumerate(paradigms):
                handle = definitions.io_handle(f"<b>{name[:50]}", file, paradigm, IoHandleFlag.NONE, None, None)
                for writer in writers:
                    begin = 1000 + number * 10_000 + place * 1000
                    writer.io_create_handle(begin, handle, IoAccessMode.READ_WRITE, 0, 0)
                    for at, mode in ((begin, IoOperationMode.WRITE), (begin + 300, IoOperationMode.READ)):
                        writer.io_operation_begin(at + 10, handle, mode, 0, 4096, 1)
                        writer.io_operation_complete(at + 200, handle, 4096, 1)
                    writer.io_destroy_handle(begin + 600, handle)
    return folder / "traces.otf2"


def many_ranks(temporary: Path) -> Path:
    """Write an archive of two layers with 2·10⁵ operations of 4096 ranks, once for all processes that run tests."""
    common = temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary
    folder, unfinished = common / "many-ranks", common / "many-ranks-unfinished"
    with (common / "many-ranks.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            script = Path(__file__).parents[3] / "benchmarks" / "generate.py"
            command = [sys.executable, str(script), str(unfinished), "--kind", "layered", "--events", "102"]
            subprocess.run(command, check=True, capture_output=True)
            unfinished.rename(folder)
    return folder


@pytest.fixture(scope="session")
def reports(
    tmp_path_factory: pytest.TempPathFactory, trace_of: Callable[[str], Trace], hostile_archive: Path
) -> Callable[[str], Path]:
    """Return a function that writes the report of an archive, once for all tests; ``hostile`` is the hostile one."""
    folder = tmp_path_factory.mktemp("reports")
    known: dict[str, Path] = {}

    def written(name: str) -> Path:
        if name not in known:
            if name == "hostile":
                trace = open_trace(hostile_archive, files="all")
            elif name == "many ranks":
                trace = open_trace(many_ranks(tmp_path_factory.getbasetemp()))
            else:
                trace = trace_of(name)
            known[name] = write_report(trace, folder / f"{name}.html").path
        return known[name]

    return written


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start Chromium without a window; tests that need it are skipped only where there is none."""
    if BROWSER is None or DRIVER is None:
        pytest.skip("no chromium with chromedriver on this machine")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(LAST_GUARD_S)
    driver.set_script_timeout(LAST_GUARD_S)
    yield driver
    driver.quit()


def spaced(answer: Any) -> Any:
    """Return what a page answers with plain spaces between numbers and units, which it keeps on one line."""
    if isinstance(answer, str):
        return answer.replace("\N{NO-BREAK SPACE}", " ")
    if isinstance(answer, list):
        return [spaced(one) for one in answer]
    return {name: spaced(one) for name, one in answer.items()} if isinstance(answer, dict) else answer


@pytest.fixture
def opened(browser: Any, reports: Callable[[str], Path]) -> Callable[..., Any]:
    """Return a function that opens a report in a window of some size and gives the browser and what it logged."""

    def show(name: str, width: int = 1280, height: int = 900, dark: bool = False, address: str = "") -> Any:
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get("about:blank")
        for kind in ("browser", "performance"):
            browser.get_log(kind)
        browser.get(reports(name).as_uri() + address)
        return SimpleNamespace(run=lambda *script: spaced(browser.execute_script(*script)), browser=browser)

    return show
