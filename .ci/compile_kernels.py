"""Compile the loops that commands need, for any processor of this kind, into a folder: ``compile_kernels.py OUT``.

Runs commands on the fixtures with the iostrata of this Python. Only the loops that a second run loads are copied: what
these call is part of them.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures"
ARCHIVES = ("ncckpt4", "ckpt4", "nonblocking4", "threads2", "ior384", "serial1")
COMMANDS = (
    ("overview",),
    ("info",),
    ("layers",),
    ("layers", "--by", "file"),
    ("layers", "--by", "rank"),
    ("layers", "--memory", "500M"),
    ("overview", "--memory", "500M"),
    ("handles",),
    ("loops",),
    ("periods",),
    ("periods", "--method", "ftio"),
    ("compare",),
    ("compare", "--window", "0.1:0.5"),
    ("report", "-o", "OUT/page.html"),
    ("convert", "OUT/out.perfetto.json"),
    ("convert", "OUT/out.h5"),
    ("watch", "--replay"),
)
RUN = """
import shutil, sys
from pathlib import Path
from iostrata.cli import main
from iostrata.model import kernels
loaded = kernels._Files._saved
def saved(self, key):
    found = loaded(self, key)
    if found is not None and sys.argv[1]:
        shutil.copyfile(self._path(key), Path(sys.argv[1], self._path(key).name))
    return found
kernels._Files._saved = saved
for line in sys.stdin:
    sys.argv[2:] = line.split("\\t")
    main([word.strip() for word in line.split("\\t")])
"""


def main(out: Path) -> None:
    """Fill the folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        lines = []
        for archive in ARCHIVES:
            for command, *options in COMMANDS:
                given = [one.replace("OUT", place) for one in options]
                words = [command, *given, str(FIXTURES / archive)] if command == "watch" else [
                    command, str(FIXTURES / archive), *given,
                ]  # fmt: skip
                lines.append("\t".join(words))
        cache = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": f"{place}/cache"}
        for copied in ("", str(out)):
            subprocess.run(
                [sys.executable, "-c", RUN, copied],
                input="\n".join(lines),
                text=True,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **cache},
                check=True,
            )
    size = sum(one.stat().st_size for one in out.iterdir())
    print(f"{len(list(out.iterdir()))} loops, {size / 1e6:.1f} MB, for {sys.implementation.cache_tag} in {out}")


main(Path(sys.argv[1]))
