"""What could be saved, as a run foretells it, beside what the same program saves when it does so.

    python benchmarks/knobs/pairs.py FOLDER [--seed N] [--mpirun "mpirun --oversubscribe"]

Compiles ``knobs.c`` with mpicc and records each pair by ``iostrata record``, so Score-P must be in the path; pairs that
are in the folder already are judged only. Of a pair the range is that of the headline, and that of the finding which
the knob is about: the headline's where it names this finding. Sizes follow the seed.
"""

import argparse
import random
import shlex
import subprocess
from pathlib import Path

import iostrata
from iostrata.analysis.comparison.headline import Headline, headline_of
from iostrata.analysis.findings import find
from iostrata.analysis.findings.find import Finding

HERE = Path(__file__).parent
COLLECTIVE = "mpiio=1 coll=1 xfer={medium}"
KNOBS = {
    "xfer": ("small-requests", "xfer={small}", "xfer={large}"),
    "fsync": ("flush-dominates", "xfer={medium} fsync=1", "xfer={medium} endsync=1"),
    "strided": ("funnelled-collective", f"{COLLECTIVE} strided=1", "mpiio=1 xfer={medium} strided=1"),
    "contiguous": ("funnelled-collective", COLLECTIVE, "mpiio=1 xfer={medium}"),
    "romio": ("funnelled-collective", f"{COLLECTIVE} io=ompio", f"{COLLECTIVE} io=romio321"),
    "reopen": ("metadata", "xfer={small} reopen=1", "xfer={small}"),
    "serial": ("serial-io", "serial=1 xfer={medium}", "xfer={medium}"),
    "serial-sync": ("serial-io", "serial=1 xfer={medium} fsync=1", "xfer={medium} fsync=1"),
    "read-back": ("read-back", "back={medium}", "back=0"),
    "small-reads": ("small-requests", "back={tiny}", "back={large}"),
    "synchronous": ("synchronous-writes", "osync=1 xfer={medium}", "xfer={medium}"),
    "uneven": ("imbalance", "skew=1 xfer={medium}", "xfer={medium}"),
    "late": ("late-arrivals", "mpiio=1 xfer={medium} late=120", "mpiio=1 xfer={medium}"),
    "late-by-turns": ("late-arrivals", f"{COLLECTIVE} late=120 turns=1", COLLECTIVE),
    "uneven-sync": ("imbalance", "skew=1 xfer={medium} fsync=1", "xfer={medium} fsync=1"),
}
"""Names of a pair: the finding that it is about (as its id begins), and how the program is called before and after."""


def record(folder: Path, seed: int, mpirun: str) -> None:
    """Record what is not there yet."""
    draw = random.Random(seed)
    size = {"tiny": 512 << draw.randrange(2), "small": 4096 << draw.randrange(2), "medium": 32768 << draw.randrange(4)}
    size |= {"large": 1 << 20, "bytes": (1 + draw.randrange(4)) << 20, "steps": draw.randrange(4, 8)}
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mpicc", "-O2", "-o", folder / "knobs", HERE / "knobs.c"], check=True)
    for name, (_, *calls) in KNOBS.items():
        for number, call in enumerate(calls):
            out = folder / f"{name}-{'off' if number == 0 else 'on'}"
            given = f"{call} bytes={{bytes}} steps={{steps}} seed={seed + number}".format_map(size).split()
            layer = [f"--mca io {one.removeprefix('io=')}" for one in given if one.startswith("io=")]
            command = [*shlex.split(" ".join([mpirun, *layer])), str((folder / "knobs").absolute()), *given]
            if not out.exists():
                record = ["iostrata", "record", "-o", str(out.absolute()), "--", *command]
                subprocess.run(record, check=False, capture_output=True, cwd=folder)


def read(path: Path) -> tuple[Headline, tuple[Finding, ...]]:
    """Return headline and findings of a recording."""
    trace = iostrata.open_trace(path)
    findings = find(trace)
    return headline_of(trace, findings), findings


def holds(gain: tuple[float, float] | None, saved: float) -> str:
    """Return whether a range held, empty where there is none."""
    return "" if gain is None else "yes" if gain[0] <= saved <= gain[1] else "no"


def text_of(gain: tuple[float, float] | None) -> str:
    """Return a range for a table."""
    return "–" if gain is None else f"{gain[0]:.3g} to {gain[1]:.3g}"


def judge(folder: Path) -> None:
    """Print a row for each pair, and how many held."""
    print("| pair | I/O s | saved s | headline | foretold s | inside | knob's finding s | inside |")
    print("|---|---|---|---|---|---|---|---|")
    found = []
    for name, (about, *_) in KNOBS.items():
        try:
            (before, findings), (after, _) = (read(folder / f"{name}-{which}") for which in ("off", "on"))
        except iostrata.TraceError as error:
            print(f"| {name} | {str(error)[:60]} |")
            continue
        saved = (before.io_s or 0.0) - (after.io_s or 0.0)
        of_knob = [one for one in findings if one.id.startswith(about) and one.gain_s]
        own = max(of_knob, key=lambda one: one.cost_s or 0.0, default=None)
        gain = None if own is None else own.gain_s
        gain = before.gain_s if before.finding is not None and before.finding.startswith(about) else gain
        row = (holds(before.gain_s, saved), holds(gain, saved))
        found.append(row)
        head = f"{name} | {before.io_s or 0:.3g} | {saved:.3g} | {before.finding or '–'} | {text_of(before.gain_s)}"
        print(f"| {head} | {row[0]} | {text_of(gain)} | {row[1]} |")
    told = [[one for one in column if one] for column in zip(*found, strict=True)]
    print("\n" + ", ".join(f"{column.count('yes')} of {len(column)} inside" for column in told))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mpirun", default="mpirun -n 4")
    chosen = parser.parse_args()
    record(chosen.folder, chosen.seed, chosen.mpirun)
    judge(chosen.folder)
