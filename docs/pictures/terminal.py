"""Draw the pictures of the README: a command's real output on a real archive, as a terminal shows it.

Needs Chromium (Debian package chromium) to turn the page into a PNG.
"""

import argparse
import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import sysconfig
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).parents[2]
COLUMNS = 100
THEME = TerminalTheme(
    (255, 255, 255),
    (36, 41, 47),
    [
        (36, 41, 47),
        (207, 34, 46),
        (17, 99, 41),
        (77, 45, 0),
        (9, 105, 218),
        (130, 80, 223),
        (27, 124, 131),
        (90, 96, 104),
    ],
)
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #fff; }}
pre {{ margin: 0; padding: 14px 18px; width: max-content; color: #24292f; }}
pre, i {{ font: 14px/1.28 "DejaVu Sans Mono", monospace; }}
i {{ display: inline-block; width: 1ch; }}
</style><pre><b>$ {command}</b>
{output}</pre>"""


def terminal_output(command: list[str], columns: int, folder: Path = ROOT) -> str:
    """Run `command` in a folder on a pseudo-terminal of `columns` columns and return what it wrote."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 200, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen(command, stdout=child, stderr=subprocess.DEVNULL, env=environment, cwd=folder)
    os.close(child)
    parts = []
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # the terminal is gone with its last writer
            break
        if not part:
            break
        parts.append(part)
    process.wait()
    os.close(parent)
    return b"".join(parts).decode().replace("\r\n", "\n")


def page(shown: str, output: str) -> str:
    """Return the output as an HTML page with its colours."""
    console = Console(record=True, width=COLUMNS + 40, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(Text.from_ansi(output.rstrip()), soft_wrap=True)
    code = console.export_html(theme=THEME, inline_styles=True, code_format="{code}")
    # Few monospaced fonts have braille; what stands in for it has another width.
    code = re.sub("[\u2800-\u28ff]", r"<i>\g<0></i>", code)
    return PAGE.format(command=html.escape(shown), output=code)


def draw(shown: str, output: str, path: Path) -> None:
    """Write the picture of `output` to `path`."""
    lines = output.rstrip().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(page(shown, output))
        widest = max(len(Text.from_ansi(line).plain) for line in lines)
        width = 36 + int(8.43 * max(COLUMNS, widest, len(shown) + 2))
        height = 30 + int(17.95 * (len(lines) + 1))
        chromium = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        chromium += [
            "--disable-background-networking",
            f"--user-data-dir={folder}/profile",
            "--force-device-scale-factor=2",
        ]
        size = f"--window-size={width},{height}"
        subprocess.run([*chromium, size, f"--screenshot={path}", str(source)], check=True, capture_output=True)


def main() -> None:
    """Draw the picture of the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "periods.png")
    arguments = parser.parse_args()
    program = str(Path(sysconfig.get_path("scripts")) / "iostrata")
    shown = "periods fixtures/ncckpt4 --direction write --layer netCDF --layer MPI-IO --layer ISOC"
    output = terminal_output([program, *shown.split()], COLUMNS)
    draw(f"iostrata {shown}", output, arguments.out)


if __name__ == "__main__":
    main()
