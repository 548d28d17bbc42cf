"""The report of a large trace: how long it takes to write, in how much memory, how large it is, how fast it opens.

Two archives with 10⁷ operations of 4096 ranks: random POSIX operations on a file a rank and handle, and collective
MPI-IO writes with POSIX writes inside, which the comparison of layers has to go through as well.
"""

import argparse
import shutil
import statistics
import sysconfig
import tempfile
from dataclasses import replace
from pathlib import Path

from generate import SHAPES, generate
from processes import Run, run
from results import write_section

ARCHIVES = {
    "one layer": replace(SHAPES["many"], events=4884, per_mille_io=1000),
    "two layers": SHAPES["layered"],
}

# The first frame behind the load event: what a person waits for.
_FIRST_FRAME = """
const done = arguments[arguments.length - 1];
const loaded = performance.getEntriesByType('navigation')[0].loadEventEnd;
requestAnimationFrame(() => requestAnimationFrame(() => done([loaded / 1000, performance.now() / 1000])));
"""


def opening_times(page: Path, rounds: int) -> tuple[float, float]:
    """Return the medians of the times from navigation to the load event and to the first frame behind it, in s."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"):
            options.add_argument(argument)
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            times = []
            for _ in range(rounds + 1):
                driver.get("about:blank")
                driver.get(page.as_uri())
                times.append(driver.execute_async_script(_FIRST_FRAME))
        finally:
            driver.quit()
    loaded, drawn = zip(*times[1:], strict=True)
    return statistics.median(loaded), statistics.median(drawn)


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/report-benchmark"), help="for archives and pages")
    parser.add_argument("--rounds", type=int, default=5, help="how often a page is opened")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    own = str(Path(sysconfig.get_path("scripts")) / "iostrata")
    # What is compiled on first use is no part of the time.
    small = folder / "small"
    generate(small, replace(SHAPES["layered"], locations=16, events=600))
    run([own, "report", str(small), "-o", str(folder / "small.html")], str(folder))
    lines = [
        "| archive | operations | reading and layers: s | of processors: s | MB | reading and report: s "
        "| of processors: s | MB | page in MB | load event: s | first frame: s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, shape in ARCHIVES.items():
        archive, page = folder / name.replace(" ", "-"), folder / f"{name.replace(' ', '-')}.html"
        generate(archive, shape)
        operations = shape.locations * shape.events // 2  # begin and end are an event each
        layers: Run = run([own, "layers", str(archive)], str(folder))
        report: Run = run([own, "report", str(archive), "-o", str(page)], str(folder))
        loaded, drawn = opening_times(page, arguments.rounds)
        lines.append(
            f"| {name} | {operations:,} | {layers.seconds:.1f} | {layers.processor_seconds:.1f} "
            f"| {layers.peak_mb:,.0f} | {report.seconds:.1f} | {report.processor_seconds:.1f} | {report.peak_mb:,.0f} "
            f"| {page.stat().st_size / 1e6:.2f} | {loaded:.2f} | {drawn:.2f} |"
        )
        shutil.rmtree(archive)
    lines.append(
        "\n4096 ranks. Times of writing are of one run of the program each, reading included; `iostrata layers` beside "
        "it tells what reading takes. The time of processors tells what other work on the machine added. "
        f"Opening: the median of {arguments.rounds} in headless Chromium, from navigation."
    )
    write_section("The report of a large trace", "\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
