"""Take the pictures of the guide's pages on other recorders, of real logs: give the folder that holds them.

Needs Chromium and its driver (Debian packages chromium and chromium-driver) and selenium.
"""

import argparse
import os
import sysconfig
import tempfile
from pathlib import Path

import iostrata
from report import browser, picture
from terminal import COLUMNS, draw, terminal_output

PICTURES = {
    "darshan.png": ("darshan/dxtexp_8_benchmark_parallel.darshan", 1270),
    "dftracer.png": ("dftracer/test-trace.pfw.gz", 800),
    "tmio.png": ("tmio/384.msgpack", 970),
}
"""File name: log, height of the part of its report that is shown."""
TABLE = """layer,rank,mode,start,end,bytes,file,node
MPI-IO,0,write,0.5,1.5,1048576,/scratch/out.h5,n0
MPI-IO,1,write,0.5,1.6,1048576,/scratch/out.h5,n1
POSIX,0,write,0.75,1.25,2097152,/scratch/out.h5,n0
POSIX,1,read,2.0,2.5,4096,/home/me/input.txt,n1
"""


def main() -> None:
    """Write the reports and take their pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", type=lambda path: Path(path).absolute())
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="where the pictures go")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    with tempfile.TemporaryDirectory() as work:
        driver = browser(Path(work) / "profile")
        try:
            for name, (log, height) in PICTURES.items():
                # The page shows the path that it was given: from the folder of the log that is a short name.
                os.chdir((arguments.logs / log).parent)
                report = Path(work) / "report.html"
                iostrata.write_report(iostrata.open_trace(Path(log).name), report)
                driver.get(report.as_uri())
                (folder / name).write_bytes(picture(driver, "report", "whole", 1280, height, False))
                print(f"wrote {folder / name}")
        finally:
            driver.quit()
        table = Path(work) / "operations.csv"
        table.write_text(TABLE)
        program = str(Path(sysconfig.get_path("scripts")) / "iostrata")
        output = terminal_output([program, "layers", table.name], COLUMNS, Path(work))
        draw(f"iostrata layers {table.name}", output, folder / "table.png")
        print(f"wrote {folder / 'table.png'}")


if __name__ == "__main__":
    main()
