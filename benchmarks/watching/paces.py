"""Changes of pace in made streams, at default options: whether they are told, and what else is told, beside an oracle.

    python benchmarks/watching/paces.py                    # 240 streams, writes a section of benchmarks/RESULTS.md
    python benchmarks/watching/paces.py FIRST COUNT        # COUNT seeds of each kind from FIRST on; prints only

A stream has 8 to 24 phases of a period of 2 to 20 s, then 12 whose period is another one by a ratio. Intervals have a
jitter, or starts keep to a clock; a stream may have delays, missing phases, a drift of 1 % a phase before the change,
or other amounts from the change on, and is told by its operations or in bins of them. A change is told if the answer is
within a tenth of the new period once the fifth phase has begun, four intervals after it. The oracle knows the intervals
as they are, period and jitter before the change, and takes the latest of them, three at least, whose generalised
likelihood ratio is the highest, where that is above what it has in one of a hundred updates without a change.
Constants of `watch` were chosen on seeds below 1,000; figures are of others.
"""

import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from iostrata.live.answer import Answer
from iostrata.live.job import LiveJob
from iostrata.live.records.intake import Key, Spans

sys.path += [str(Path(__file__).resolve().parents[1] / folder) for folder in ("", "accuracy")]
from inputs.bursts import clock, draw_style, make_bursts
from inputs.signal_input import Floats
from results import write_section

TITLE = "Changes of pace in made streams (`python benchmarks/watching/paces.py`)"
RATIOS = (1.0, 0.9, 1.1, 0.8, 1.2, 0.5, 1.5, 2.0)
JITTERS = (0.02, 0.05, 0.1, 0.15, 0.2)
BESIDE = ("nothing", "nothing", "delays", "missing phases", "drift", "other amounts")
WIDTHS = (1.0, 0.0625)
"""Widths of bins in s: the first that has twelve or more to a period and is drawn."""
FIRST, COUNT = 500_000, 6
AFTER = 12
FEWEST = 4
"""Intervals after a change in which it is to be told."""
WITHIN = 0.1
UNLIKELY = 4.5
"""Logarithm of the likelihood ratio from which on the oracle tells a change: wrong in 1 % of updates of other seeds."""


@dataclass(frozen=True, eq=False)
class Made:
    """A stream in the order of its ends, the starts of its phases in s, and how many of them come before the change."""

    columns: Spans
    start: Floats
    before: int
    period: float
    ratio: float
    jitter: float
    about_clock: bool
    beside: str
    width: float
    """Of the bins in s; 0 of operations."""
    clean: Floats
    """Starts without what is beside the change."""

    @property
    def known(self) -> Floats:
        """When half of what each phase moves has ended: what is less may be no phase."""
        begins = self.start - (self.width if self.width else 1e-9)
        row = np.searchsorted(begins, self.columns.start, side="right") - 1
        times = []
        for phase in range(self.start.size):
            own = row == phase
            moved = np.cumsum(self.columns.volume[own])
            times.append(float(self.columns.end[own][int(np.searchsorted(moved, 0.5 * moved[-1]))]))
        return np.array(times)


def made(seed: int, ratio: float, jitter: float) -> Made:
    """Return the stream of a seed."""
    rng = np.random.default_rng([seed, round(100 * ratio), round(100 * jitter), 5])
    period, before = float(np.exp(rng.uniform(np.log(2.0), np.log(20.0)))), int(rng.integers(8, 25))
    about_clock, beside = bool(rng.random() < 0.5), BESIDE[int(rng.integers(len(BESIDE)))]
    first = clock(rng, before, period, jitter, about_clock)
    second = clock(rng, AFTER + 1, ratio * period, jitter, about_clock)
    apart = np.append(np.diff(first), np.diff(second))
    clean = start = np.append(0.0, np.cumsum(apart))
    if beside == "drift":
        apart[: before - 1] *= np.exp(0.01 * np.arange(2 - before, 1))
    if beside == "delays":
        apart[rng.integers(2, before - 3)] += period * rng.uniform(0.5, 4.0)
    start = np.append(0.0, np.cumsum(np.maximum(apart, 0.1 * period)))
    kept = np.ones(start.size, bool)
    if beside == "missing phases":
        kept[1 : before - 1] = rng.random(before - 2) > 0.08
        start, before = start[kept], before - int((~kept).sum())
    style = draw_style(rng)
    volume = np.full(start.size, 1e8)
    volume[before:] *= np.exp(rng.uniform(-1.2, 1.2)) if beside == "other amounts" else 1.0
    bursts = make_bursts(rng, start, rng.uniform(0.03, 0.3) * period * min(ratio, 1.0), 1.0, style)
    row = np.searchsorted(start, bursts.start + 1e-9, side="right") - 1
    moved = np.maximum(np.rint(bursts.volume * volume[row]), 1).astype(np.int64)
    columns = Spans(bursts.start, bursts.end, moved)
    width = WIDTHS[int(rng.random() < 0.5 or min(ratio, 1.0) * period < 12 * WIDTHS[0])]
    width = width if rng.random() < 0.5 else 0.0
    columns = in_bins(columns, width) if width else columns
    order = np.argsort(columns.end, kind="stable")
    columns = Spans(columns.start[order], columns.end[order], columns.volume[order])
    return Made(columns, start, before, period, ratio, jitter, about_clock, beside, width, clean)


def in_bins(columns: Spans, width: float) -> Spans:
    """Return what moved in each bin, as a line of bins tells it."""
    edges = np.arange(np.floor(columns.start.min() / width), np.ceil(columns.end.max() / width) + 1) * width
    order = np.argsort(columns.start, kind="stable")
    moved = np.zeros(edges.size)
    for start, end, volume in zip(columns.start[order], columns.end[order], columns.volume[order], strict=True):
        share = np.clip((edges - start) / max(end - start, 1e-9), 0.0, 1.0)
        moved += volume * share
    volumes = np.diff(np.rint(moved)).astype(np.int64)
    full = np.flatnonzero(volumes > 0)
    return Spans(edges[full], edges[full + 1], volumes[full])


def answers(stream: Made) -> list[Answer]:
    """Return what is said of it, an update a second."""
    job, told, at = LiveJob(), [], 0
    for now in np.arange(1.0, float(stream.columns.end[-1]) + 1.0):
        stop = int(np.searchsorted(stream.columns.end, now, side="right"))
        part = Spans(*(getattr(stream.columns, name)[at:stop] for name in ("start", "end", "volume")))
        at = stop
        if len(part):
            job.add(Key("POSIX", "write"), part)
        told += job.answers(0.0, float(now))
    return told


def of_oracle(stream: Made, count: int) -> float:
    """Return the period in s by the oracle after so many phases."""
    off = np.diff(stream.clean[:count])[::-1] - stream.period
    size = np.arange(1, off.size + 1)
    ratio = np.cumsum(off) ** 2 / (2 * size * (stream.jitter * stream.period) ** 2 * (1 + stream.about_clock))
    best = 2 + int(np.argmax(ratio[2:]))
    return stream.period + (float(off[: best + 1].mean()) if ratio[best] > UNLIKELY else 0.0)


@dataclass(eq=False)
class Tally:
    """What became of streams of a kind."""

    told: list[bool] = field(default_factory=list)
    later: list[bool] = field(default_factory=list)
    oracle: list[bool] = field(default_factory=list)
    stated: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    """Confidence once for each phase from the fifth on, and whether the period was within a tenth."""
    false: list[bool] = field(default_factory=list)
    moved: list[bool] = field(default_factory=list)
    """Of updates without a change: whether one was told, and the period was off by it; and whether one was told."""
    silent: list[bool] = field(default_factory=list)
    """Updates from the fourth phase on without a period and a reason."""
    aperiodic: list[bool] = field(default_factory=list)
    likely: list[float] = field(default_factory=list)
    began: list[bool] = field(default_factory=list)
    miscounted: list[bool] = field(default_factory=list)
    oracle_false: list[bool] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add what became of others."""
        for name, rows in vars(other).items():
            getattr(self, name).extend(rows)


def judged(stream: Made) -> Tally:
    """Judge what is said of a stream."""
    told, found = answers(stream), Tally()
    times = np.array([one.time for one in told])
    known, truth = stream.known, stream.period * stream.ratio
    if stream.ratio != 1.0:
        places = [known[min(stream.before - 1 + more, known.size - 1)] for more in (FEWEST, FEWEST + 2)]
        for rows, place in zip((found.told, found.later), np.searchsorted(times, places), strict=True):
            rows.append(is_near(told[min(int(place), len(told) - 1)].period, truth))
        found.oracle.append(is_near(of_oracle(stream, stream.clean.size - AFTER + FEWEST), truth))
    begins, ends = np.sort(stream.columns.start), stream.columns.end
    last = seen = FEWEST
    for one, phases in zip(told, np.searchsorted(known, times, side="right").tolist(), strict=True):
        if phases < FEWEST:
            continue
        found.silent.append(one.period is None and not one.reason)
        found.miscounted.append(abs(one.phases - phases) > 1)
        steady = stream.ratio == 1.0 and stream.beside != "drift"
        if phases > FEWEST and steady:
            late = one.regime_start is not None and one.regime_start > stream.start[0] + 0.6 * stream.period
            found.moved.append(late)
            found.false.append(late and not is_near(one.period, stream.period))
        if phases > last:
            last = phases
            found.aperiodic.append(one.period is None)
            # While it drifts the period is the mean of what drifted.
            if one.period is not None and (stream.beside != "drift" or phases > stream.before):
                found.stated.append(one.confidence)
                found.right.append(is_near(one.period, truth if phases > stream.before else stream.period))
            if stream.ratio == 1.0:
                found.oracle_false.append(not is_near(of_oracle(stream, phases), stream.period))
        if one.next_start is not None and one.as_of is None and not one.in_phase and one.phases != seen:
            following = begins[int(np.searchsorted(ends, one.time, side="right")) :]
            if following.size and following[0] > one.time:
                seen = one.phases
                found.likely.append(one.probability or 0.0)
                found.began.append(bool(one.next_start[0] <= following[0] <= one.next_start[1]))
    return found


def is_near(period: float | None, truth: float) -> bool:
    """Tell whether a period is within a tenth."""
    return period is not None and abs(period / truth - 1) <= WITHIN


def share(rows: list[bool]) -> str:
    return f"{np.mean(rows):.1%}" if rows else "–"


def of_ten(rows: list[bool]) -> str:
    return f"{10 * np.mean(rows):.1f}" if rows else "–"


def tables(every: dict[tuple[str, object], Tally]) -> str:
    """Return Markdown of what became of all streams."""
    lines = [
        "Of ten changes, told within four phases (within six); in brackets the oracle within four:",
        "",
        "| jitter | "
        + " | ".join(f"× {ratio:g}" for ratio in RATIOS[1:])
        + " | change told where there is none, period off by it | told at all | oracle's |",
        "|---" * (len(RATIOS) + 3) + "|",
    ]
    for jitter in JITTERS:
        cells = []
        for ratio in RATIOS[1:]:
            one = every["cell", (jitter, ratio)]
            cells.append(f"{of_ten(one.told)} ({of_ten(one.later)}) [{of_ten(one.oracle)}]")
        none = every["cell", (jitter, 1.0)]
        cells += [share(none.false), share(none.moved), share(none.oracle_false)]
        lines.append(f"| {jitter:.0%} | {' | '.join(cells)} |")
    lines += [
        "",
        "| streams | told within four, of ten | confidence stated | within a tenth | without period | false changes | "
        "next phase: stated | true | phases | phases off by more than 1 | silent |",
        "|---" * 11 + "|",
    ]
    for (kind, name), one in every.items():
        if kind != "cell":
            stated = f"{np.mean(one.stated):.2f} | {np.mean(one.right):.2f}" if one.stated else "– | –"
            likely = (
                f"{np.mean(one.likely):.3f} | {np.mean(one.began):.3f} | {len(one.began)}" if one.began else "– | – | 0"
            )
            more = (
                f"{share(one.aperiodic)} | {share(one.false)} | {likely} | {share(one.miscounted)} | {sum(one.silent)}"
            )
            lines.append(f"| {name} | {of_ten(one.told)} [{of_ten(one.oracle)}] | {stated} | {more} |")
    return "\n".join(lines)


def main() -> None:
    """Make the streams, and tell what became of them."""
    first, count = map(int, sys.argv[1:]) if len(sys.argv) > 2 else (FIRST, COUNT)
    every: dict[tuple[str, object], Tally] = defaultdict(Tally)
    for seed in range(first, first + count):
        for ratio in RATIOS:
            for jitter in JITTERS:
                stream = made(seed, ratio, jitter)
                kinds: list[tuple[str, object]] = [
                    ("cell", (jitter, ratio)),
                    ("all", "all"),
                    ("law", "starts keep to a clock" if stream.about_clock else "starts follow one another"),
                    ("form", "in bins" if stream.width else "operations"),
                    ("beside", f"beside the change: {stream.beside}"),
                    ("change", "with a change" if ratio != 1.0 else "without a change"),
                    ("jitter", f"jitter {jitter:.0%}"),
                ]
                found = judged(stream)
                for kind in kinds:
                    every[kind].add(found)
    body = tables(dict(sorted(every.items(), key=lambda item: str(item[0]))))
    print(body)
    if len(sys.argv) < 2:
        write_section(TITLE, body)


if __name__ == "__main__":
    main()
