"""The headline of each recording beside what the program itself says, and what knobs saved beside what was foretold.

    python benchmarks/headlines.py FOLDER [FOLDER ...]

Each folder holds recordings with a ``truth.json``. IOR's own time is the sum of ``totalTime`` of its repetitions, from
the first rank that opens to the last that closes; of other benchmarks it is what their output says. No rank is longer
in I/O than that, nor are all ranks together but for deletions, which IOR does after its last close. They are shorter
where ranks wait for a processor or a barrier: ``wrRdTime`` of IOR is the part in reads and writes. Applications say no
time of their own.
"""

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import iostrata
from iostrata.analysis.comparison.headline import Headline, headline_of
from iostrata.analysis.findings import find
from iostrata.analysis.findings.find import Finding

PAIRS = (
    ("pair_strided_coll", "pair_strided_indep", "funnelled-collective"),
    ("pair_ompio", "pair_romio", "funnelled-collective"),
    ("pair_xfer_4k", "pair_xfer_1m", "small-requests"),
    ("ncckpt4", "ncckpt4_nofill", "fill-values"),
    ("ncckpt4", "ncckpt4_indep", "funnelled-collective"),
    ("ncckpt4", "ncckpt4_romio", "funnelled-collective"),
    ("ckpt4", "ckpt4_romio", "funnelled-collective"),
)
"""The knob as it was, and as it was changed to, and the finding that it is about: the range is that of the headline
where it names this finding, and else the finding's own."""
_SLACK = 1.05
"""Of a program's own time, which is rounded to its digits and excludes what stands before its first clock."""


_OUTPUT = (
    r"^ time = +(\S+)",
    r"Total I/O time in sec\s+:\s+(\S+)",
    r"^(?:Raw write time|Metadata time|H5F\w+\(\) time): (\S+) s",
    r"^(?:precreate|benchmark|cleanup) process max:(\S+?)s ",
)
"""Of benchio, BTIO, h5bench and md-workbench: what they say of their seconds in I/O, part by part."""


@dataclass(frozen=True)
class Row:
    """A recording: its headline, the program's own seconds in I/O and in transfers alone, and those of deletions."""

    name: str
    headline: Headline
    findings: tuple[Finding, ...]
    own_s: float | None
    transfers_s: float | None
    deletions_s: float

    @property
    def holds(self) -> str:
        """Whether the time in I/O is no longer than the program says, of the longest rank and of all together."""
        if self.own_s is None or self.headline.io_s is None:
            return "–"
        together = (self.headline.any_io_s or 0.0) - self.deletions_s
        return "yes" if max(self.headline.io_s, together) <= _SLACK * self.own_s else "no"


def own_seconds(folder: Path) -> tuple[float | None, float | None]:
    """Return the seconds that a benchmark says it took, with opens and closes and without; None where it says none."""
    truth = json.loads((folder / "truth.json").read_text()) if (folder / "truth.json").exists() else {}
    rows = truth.get("repetitions") or []
    if rows and "totalTime" in rows[0]:
        return sum(row["totalTime"] for row in rows), sum(row["wrRdTime"] for row in rows)
    output = folder / "benchmark_output.txt"
    text = output.read_text() if output.exists() else ""
    found = [float(one) for pattern in _OUTPUT for one in re.findall(pattern, text, re.M)]
    return (sum(found) if found else None), None


def read(folder: Path) -> Row:
    """Return the row of a recording."""
    trace = iostrata.open_trace(folder)
    calls = () if trace.calls.totals is None else trace.calls.totals.call_times
    deletions = sum(one.busy_s for one in calls if one.kind == "deletions")
    findings = find(trace)
    return Row(folder.name, headline_of(trace, findings), findings, *own_seconds(folder), deletions)


def recordings(folders: list[Path]) -> Iterator[Path]:
    """Give the recordings of some folders by name."""
    for folder in folders:
        yield from sorted(
            one for one in folder.iterdir() if (one / "traces.otf2").exists() and "broken" not in one.name
        )


def text_of(seconds: float | None) -> str:
    """Return seconds for a table."""
    return "–" if seconds is None else f"{seconds:.3g}"


def table(rows: list[Row]) -> list[str]:
    """Return the table of headlines."""
    lines = [
        "| recording | longest s | any s | own s | transfers s | no longer | headline |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in rows:
        cells = (one.headline.io_s, one.headline.any_io_s, one.own_s, one.transfers_s)
        told = " | ".join([one.name, *map(text_of, cells), one.holds, one.headline.text])
        lines.append(f"| {told} |")
    return lines


def pairs(rows: dict[str, Row]) -> list[str]:
    """Return the table of pairs: what a knob saved, and what was foretold without it."""
    lines = ["| pair | finding | foretold s | saved s | inside | reason |", "|---|---|---|---|---|---|"]
    inside = []
    for off, on, knob in PAIRS:
        if off not in rows or on not in rows:
            continue
        before, after = rows[off].headline, rows[on].headline
        if before.io_s is None or after.io_s is None:
            continue
        saved = before.io_s - after.io_s
        about = max(
            (one for one in rows[off].findings if one.id == knob), key=lambda one: one.cost_s or 0.0, default=None
        )
        gain, reason = (None, "") if about is None else (about.gain_s, about.gain_reason)
        gain, reason = (before.gain_s, before.gain_reason) if before.finding == knob else (gain, reason)
        held = gain is not None and gain[0] <= saved <= gain[1]
        inside.append(held)
        foretold = "–" if gain is None else f"{gain[0]:.3g} to {gain[1]:.3g}"
        told = (knob, foretold, f"{saved:.3g}", "yes" if held else "no", reason)
        lines.append(f"| {off} → {on} | {' | '.join(told)} |")
    return [*lines, "", f"{sum(inside)} of {len(inside)} inside"]


def main() -> None:
    """Print both tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folders", nargs="+", type=Path)
    rows = [read(one) for one in recordings(arguments.parse_args().folders)]
    print("\n".join([*table(rows), "", *pairs({one.name: one for one in rows})]))


if __name__ == "__main__":
    main()
