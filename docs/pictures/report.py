"""Take the pictures of the report that the README and the guide show: a real report in a real browser.

Needs Chromium and its driver (Debian packages chromium and chromium-driver) and selenium.
"""

import argparse
import base64
import os
import shutil
import tempfile
from pathlib import Path

import iostrata
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

ROOT = Path(__file__).parents[2]
PICTURES = {
    "report-top.png": ("report", "whole", 1440, 900, False),
    "report-flow.png": ("flow", "section", 1280, 0, False),
    "report-timeline.png": ("timeline", "section", 1280, 0, False),
    "report-collectives.png": ("collectives", "section", 1280, 0, False),
    "report-threads.png": ("stacks", "section", 1280, 0, False),
    "report-dark-phone.png": ("report", "whole", 400, 900, True),
}
"""File name: element, whether its top or all of it, width, height, dark."""


def browser(folder: Path) -> webdriver.Chrome:
    """Start Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def picture(driver: webdriver.Chrome, element: str, part: str, width: int, height: int, dark: bool) -> bytes:
    """Return a PNG of an element of the open page, or of the page from its top to `height`."""
    features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    length = driver.execute_script("return document.documentElement.scrollHeight")
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**screen, "height": length})
    driver.execute_async_script("setTimeout(arguments[0], 500)")
    box = driver.execute_script("return document.getElementById(arguments[0]).getBoundingClientRect()", element)
    top, tall = (0, height) if part == "whole" else (box["top"], box["height"])
    clip = {"x": 0, "y": top, "width": width, "height": tall + 8, "scale": 1}
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
    return base64.b64decode(taken["data"])


def main() -> None:
    """Write the report of a real archive and take its pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="where the pictures go")
    folder = parser.parse_args().folder.absolute()
    with tempfile.TemporaryDirectory() as work:
        report = Path(work) / "report.html"
        os.chdir(ROOT)
        iostrata.write_report(iostrata.open_trace("fixtures/ncckpt4"), report)
        driver = browser(Path(work) / "profile")
        try:
            driver.get(report.as_uri())
            for name, what in PICTURES.items():
                (folder / name).write_bytes(picture(driver, *what))
                print(f"wrote {folder / name}")
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
