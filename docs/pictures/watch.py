"""Draw the picture of the guide's page on running jobs: the view of `watch` in the middle of a replayed trace.

Needs Chromium (Debian package chromium) to turn the page into a PNG.
"""

import argparse
import io
from pathlib import Path

from iostrata import open_trace
from iostrata.export.terminal.watch import watch_view
from iostrata.live.following import replay
from iostrata.live.job import LiveJob
from rich.console import Console
from terminal import ROOT, draw

COLUMNS = 118
SHOWN = "watch --replay fixtures/ckpt4_jitter --speed 1"
UPDATE = 63
"""Of a hundred: a phase is just over."""


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "watch.png")
    arguments = parser.parse_args()
    updates = replay(LiveJob(), open_trace(ROOT / "fixtures" / "ckpt4_jitter"), None)
    update = next(one for number, one in enumerate(updates) if number == UPDATE)
    stream = io.StringIO()
    Console(file=stream, width=COLUMNS, force_terminal=True, color_system="truecolor").print(
        watch_view(update, "fixtures/ckpt4_jitter")
    )
    draw(f"iostrata {SHOWN}", stream.getvalue(), arguments.out)


if __name__ == "__main__":
    main()
