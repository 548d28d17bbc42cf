"""What ``diff`` says of recordings: how often it finds a change where none was made, and whether it names one that was.

``IOSTRATA_RECORDINGS=FOLDER python benchmarks/differences/recorded.py`` writes a section of benchmarks/RESULTS.md.
FOLDER has six recordings of one program beside random load, ``sig_run1`` to ``sig_run6``, and recordings of which two
differ by one knob, ``pair_*``. Runs of which only the times are other, all by one factor, or that have one phase more,
are made of the six.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

from iostrata.runs import Difference, LayerRow, Run, Settings, diff_runs, read_run

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from results import write_section

REPEATED = 6
PAIRS = (
    ("pair_strided_indep", "pair_strided_coll", "independent and collective"),
    ("pair_xfer_4k", "pair_xfer_1m", "transfers of 4 KiB and 1 MiB"),
    ("pair_romio", "pair_ompio", "ROMIO and OMPIO"),
)
TITLE = "What diff says of recordings (`python benchmarks/differences/recorded.py`)"


def main() -> None:
    """Write the section."""
    folder = os.environ.get("IOSTRATA_RECORDINGS")
    if folder is None:
        raise SystemExit("IOSTRATA_RECORDINGS has to name the folder of the recordings")
    repeated = [run_of(folder, f"sig_run{number}") for number in range(1, REPEATED + 1)]
    lines = ["| runs a side | comparisons | with a change that matters | rate |", "|---|---|---|---|"]
    found: dict[str, list[Difference]] = {}
    for before, after in ((1, 1), (1, 5), (2, 2), (3, 3)):
        told = [diff_runs(*sides) for sides in splits(repeated, before, after)]
        found[f"{before} and {after}"] = told
        alarms = sum(bool(one.mattering) for one in told)
        lines.append(f"| {before} and {after} | {len(told)} | {alarms} | {alarms / len(told):.1%} |")
    alarming = [text_of(one) for several in found.values() for one in several if one.mattering]
    lines += ["", *(f"- {text}" for text in alarming)]
    lines += ["What the first sentence is about (and of how many comparisons) where a run, or three, are compared with"]
    lines += ["themselves, with all times changed by one factor, and with one phase more:", ""]
    lines += ["| what is other | 1 run a side | 3 runs a side |", "|---|---|---|"]
    for name, change in CHANGES:
        single = [diff_runs([one], [change(one)]) for one in repeated]
        several = [diff_runs(side, list(map(change, side))) for side in (repeated[:3], repeated[3:])]
        lines.append(f"| {name} | {first_ids(single)} | {first_ids(several)} |")
    lines += ["", "| knob | from | to | first sentence |", "|---|---|---|---|"]
    for one, other, knob in PAIRS:
        sides = {name: run_of(folder, name) for name in (one, other)}
        for before, after in ((one, other), (other, one)):
            told = first_sentence(diff_runs([sides[before]], [sides[after]]))
            lines.append(f"| {knob} | {before} | {after} | {told} |")
    write_section(TITLE, "\n".join(lines))
    print("\n".join(lines))


def run_of(folder: str, name: str) -> Run:
    """Read a recording; it has to be one that can be read."""
    run = read_run(Path(folder, name, "traces.otf2"), Settings())
    if run is None or not run.job.usable:
        raise SystemExit(f"{name} cannot be read: {run.job.reason if run else ''}")
    return run


def splits(runs: Sequence[Run], before: int, after: int) -> Iterator[tuple[list[Run], list[Run]]]:
    """Give all ways to take two sides of different runs, in both directions."""
    if (before, after) == (1, 1):
        yield from (([one], [other]) for one, other in permutations(runs, 2))
        return
    for side in combinations(runs, before):
        rest = [run for run in runs if run not in side]
        for other in combinations(rest, after):
            yield list(side), list(other)
            if before != after:
                yield list(other), list(side)


def slower(run: Run, factor: float) -> Run:
    """Return a run of which everything takes `factor` times as long."""
    job = replace(
        run.job,
        duration_s=(run.job.duration_s or 0.0) * factor,
        io_s=(run.job.io_s or 0.0) * factor,
        rank_io_s=(run.job.rank_io_s or 0.0) * factor,
    )
    return replace(run, job=job, layers=tuple(_slower(row, factor) for row in run.layers))


def _slower(row: LayerRow, factor: float) -> LayerRow:
    scaled = {
        name: None if (value := getattr(row, name)) is None else value * factor
        for name in ("busy_s", "summed_s", "period_s", "period_low_s", "period_high_s", "recurrence_s")
    }
    return replace(
        row,
        **scaled,
        bandwidth=None if row.bandwidth is None else row.bandwidth / factor,
        phase_start_s=tuple(factor * time for time in row.phase_start_s),
        phase_end_s=tuple(factor * time for time in row.phase_end_s),
    )


def one_more(run: Run) -> Run:
    """Return a run with one phase more of each layer and direction, like its last one."""
    return replace(run, layers=tuple(_one_more(row) for row in run.layers))


def _one_more(row: LayerRow) -> LayerRow:
    if len(row.phase_bytes) < 2:
        return row
    part = row.phase_bytes[-1] / row.bytes
    period = row.phase_start_s[-1] - row.phase_start_s[-2]
    length = row.phase_end_s[-1] - row.phase_start_s[-1]
    start = row.phase_start_s[-1] + period
    grown = {
        name: None if (value := getattr(row, name)) is None else type(value)(value * (1 + part))
        for name in (
            "operations",
            "bytes",
            "collective_operations",
            "non_blocking_operations",
            "busy_s",
            "summed_s",
        )
    }
    return replace(
        row,
        **grown,
        phases=(row.phases or 0) + 1,
        phase_start_s=(*row.phase_start_s, start),
        phase_end_s=(*row.phase_end_s, start + length),
        phase_bytes=(*row.phase_bytes, row.phase_bytes[-1]),
    )


def flushing(run: Run) -> Run:
    """Return a run with a flush after each write of POSIX."""
    rows = [row for row in run.layers if (row.layer, row.direction) != ("POSIX", "flush")]
    write = next(row for row in rows if (row.layer, row.direction) == ("POSIX", "write"))
    flush = LayerRow(
        job=write.job, layer="POSIX", direction="flush", operations=write.operations, busy_s=write.busy_s,
        ranks=write.ranks, above=write.above,
    )  # fmt: skip
    return replace(run, layers=(*rows, flush))


def reading(run: Run) -> Run:
    """Return a run that also reads what POSIX has written."""
    write = next(row for row in run.layers if (row.layer, row.direction) == ("POSIX", "write"))
    return replace(run, layers=(*run.layers, replace(write, direction="read")))


def straggling(run: Run) -> Run:
    """Return a run of which one rank takes four times as long as it did, and all that wait for it."""
    layers = [
        replace(row, imbalance=None if row.imbalance is None else 4 * row.imbalance, busy_s=4 * (row.busy_s or 0.0))
        for row in run.layers
    ]
    slow = [replace(one, busy_s=tuple(4 * time for time in one.busy_s)) for one in run.iterations]
    return replace(run, layers=tuple(layers), iterations=tuple(slow))


CHANGES = (
    ("nothing", lambda run: run),
    ("all takes 10 % longer", lambda run: slower(run, 1.1)),
    ("all takes 10 % less", lambda run: slower(run, 0.9)),
    ("all takes 3 times as long", lambda run: slower(run, 3.0)),
    ("one phase more", one_more),
    ("a flush after each write", flushing),
    ("an extra read", reading),
    ("a straggler", straggling),
)


def first_sentence(difference: Difference) -> str:
    """Return the first change that matters in words."""
    return next((change.text for change in difference.mattering), "no change that matters")


def first_ids(differences: Iterable[Difference]) -> str:
    """Return of what the first sentences are, and how often."""
    found = Counter(next((change.id for change in one.mattering), "no change") for one in differences)
    return ", ".join(f"{name} ({count})" for name, count in found.most_common())


def text_of(difference: Difference) -> str:
    """Return which runs were compared, and what is said to matter."""
    sides = (" ".join(names(side)) for side in (difference.before, difference.after))
    return f"{' against '.join(sides)}: {'; '.join(change.text for change in difference.mattering)}"


def names(runs: Iterable[Run]) -> list[str]:
    """Return what runs are called."""
    return [run.job.name for run in runs]


if __name__ == "__main__":
    main()
