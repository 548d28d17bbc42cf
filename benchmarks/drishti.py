"""What Drishti remarks of Darshan logs beside the findings here: said as well, or why not, by the log's own numbers.

Drishti (drishti-io on PyPI) runs as a program of its own, in an environment of its own; give its path. Remarks that
only name what a log does, such as that it writes more than it reads, are those of `iostrata layers`. Where no finding
says what a remark does, the log's counters are asked whether it is right; "open" are those that they do not refute.
"""

import argparse
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import iostrata
import numpy as np
from iostrata.analysis.findings import find

FACTS = ("P01", "P02", "P03", "P04", "P12", "P13", "P14", "M04", "M05")
"""Remarks that are no fault: which direction moves more, what follows one another, what is collective."""
SAID = {
    "S01": ("heavy-stdio",),
    "P05": ("small-requests",),
    "P06": ("small-requests",),
    "P08": ("unaligned-requests",),
    "P09": ("redundant-reads", "read-back", "data-sieving", "read-amplification"),
    "P10": ("write-amplification", "fill-values"),
    "P11": ("random-access",),
    "P15": ("small-requests",),
    "P16": ("small-requests",),
    "P17": ("metadata-time",),
    "P18": ("imbalance", "funnelled-collective", "serial-io", "slow-ranks"),
    "P19": ("slow-ranks", "slow-operations", "imbalance", "funnelled-collective"),
    "P21": ("imbalance", "serial-io", "slow-ranks"),
    "P22": ("imbalance", "serial-io", "slow-ranks"),
    "M01": ("shared-file-independent", "serial-io", "heavy-stdio"),
    "M02": ("shared-file-independent",),
    "M03": ("shared-file-independent",),
}
"""Findings that say what a remark does."""
FEW = 16
"""Transfers a rank, below which nothing is said of where they begin."""
COPIED = 1e9
"""Bytes a second that any machine copies in memory."""
MEANWHILE = "a log of Darshan does not tell whether there is work to do meanwhile"


def refuted(trace: iostrata.Trace, code: str) -> tuple[bool, str]:
    """Tell whether the log's counters speak against a remark, and what they say."""
    counters, run_s, ranks = trace.definitions.recording.counters, trace.duration, trace.definitions.process_count
    if code in ("M06", "M07"):
        return True, MEANWHILE
    if counters is None:
        return True, "the log counts nothing"
    posix, stdio = counters.of_layer("POSIX"), counters.of_layer("ISOC")
    moved = np.maximum(counters.bytes_read, 0) + np.maximum(counters.bytes_written, 0)
    way = "read" if code in ("P05", "P09", "P11", "P15", "P22") else "write"
    operations = np.maximum(counters.of(way)[0], 0)
    shared = posix & (counters.rank < 0)
    taken = counters.time("read_time", "write_time") * posix
    # Of a file that all ranks share its slowest one is known.
    slowest = np.where(shared, np.minimum(counters.time("slowest_rank_time"), taken), taken)
    longest = float(
        slowest[shared].sum() + max(np.bincount(counters.rank[posix & ~shared], slowest[posix & ~shared]), default=0)
    )
    share = longest / run_s if run_s else 0.0
    if code == "S01":
        streams = np.array([name.startswith("<STD") for name in trace.definitions.files.name] + [False])[counters.file]
        ours, every = int(moved[stdio & streams].sum()), int(moved[stdio].sum())
        took = float(counters.time("read_time", "write_time")[stdio & ~streams].sum()) / run_s
        told = f"{ours:,} of {every:,} B through ISO C are of standard streams, the rest takes {took:.1%} of the run"
        return took < 0.01, told
    if code in ("P05", "P06", "P15", "P16"):
        small = counters.count(*(f"size_{way}_{one}" for one in ("0_100", "100_1k", "1k_10k")))[posix].sum()
        count = operations[posix].sum()
        told = f"{int(small):,} of {int(count):,} {way}s are of less than 10 KB, all take {share:.1%} of the run"
        return small < 0.1 * count or share < 0.01, told
    if code in ("P07", "P08"):
        return misaligned(counters, code, share, run_s, ranks)
    if code in ("P09", "P10"):
        total = int(np.maximum(counters.of(way)[1], 0)[posix].sum())
        name = "max_byte_read" if way == "read" else "max_byte_written"
        reach = (counters.count(name) + 1) * posix * (np.maximum(counters.of(way)[1], 0) > 0)
        highest = int(_largest(counters.file, reach).sum())
        return total <= highest, f"{total:,} B, and the files reach to {highest:,} B"
    if code == "P11":
        follow, count = int(counters.count(f"seq_{way}s")[posix].sum()), int(operations[posix].sum())
        return (
            2 * follow > count or share < 0.01,
            f"{follow:,} of {count:,} {way}s begin at or behind the end of the one before",
        )
    if code == "P17":
        each = counters.time("meta_time")[posix | counters.of_layer("MPI-IO")].sum() / ranks
        # Of a file that all ranks share Drishti takes the sum over them for the time of one.
        told = f"{each:.3g} s on average of {ranks:,} ranks, {each / run_s if run_s else 0:.2%} of the run"
        return each < max(1.0, 0.01 * run_s), told
    if code in ("P18", "P19"):
        what = "bytes" if code == "P18" else "time"
        column = counters.count if what == "bytes" else counters.time
        low, high = (column(f"{one}_rank_{what}")[shared] for one in ("fastest", "slowest"))
        most = int(np.argmax(high - low)) if len(high) else 0
        told = (
            f"{low[most]:,.6g} and {high[most]:,.6g} {what} of the fastest and slowest rank; {share:.1%} of the run"
            if len(high)
            else "no file is shared"
        )
        return len(high) == 0 or share < 0.01, told
    if code in ("P21", "P22"):
        upper = counters.of_layer("MPI-IO")
        together, all_calls = int(counters.count(f"coll_{way}s")[upper].sum()), int(operations[upper].sum())
        below = int(operations[posix].sum())
        told = f"{together:,} of {all_calls:,} MPI-IO {way}s are collective, {below:,} of POSIX; {share:.1%} of the run"
        if way == "read" and below and not all_calls and counters.of("write")[0][upper].sum() > 0:
            return True, f"{told}; no read was asked for: those of POSIX are data sieving's, which is said"
        even, also = by_rank(counters, way, run_s, ranks)
        return 2 * together > all_calls or share < 0.01 or even, f"{told}{also}"
    if code == "M01":
        used = posix & (moved > 0)
        users = np.bincount(counters.file[used & (counters.rank >= 0)], minlength=1)
        many = int(shared[used].sum() if shared[used].any() else (users > 1).sum())
        return (
            ranks == 1 or not many or share < 0.01,
            f"{ranks:,} ranks, {many:,} files that several share, {share:.1%} of the run",
        )
    return False, "nobody looked"


def misaligned(counters: Any, code: str, share: float, run_s: float, ranks: int) -> tuple[bool, str]:
    """Tell whether transfers that begin beside blocks, of the file or of memory, can cost what matters."""
    posix = counters.of_layer("POSIX")
    every = int(sum(np.maximum(counters.of(one)[0], 0)[posix].sum() for one in ("read", "write")))
    moved = int(sum(np.maximum(counters.of(one)[1], 0)[posix].sum() for one in ("read", "write")))
    where = "mem" if code == "P07" else "file"
    apart, block = (
        counters.count(f"{where}_not_aligned") * posix,
        int(counters.count(f"{where}_alignment")[posix].max()),
    )
    mean = moved / max(every, 1)
    told = f"{int(apart.sum()):,} of {every:,} transfers of {mean:,.0f} B on average, all take {share:.1%} of the run"
    if share < 0.01:
        return True, told
    if code == "P07":
        # A buffer that is not aligned costs a copy at most.
        copied = moved / COPIED
        return copied < 0.01 * run_s, f"{told}; to copy all bytes takes {copied:.2g} s"
    if (apart[posix & (counters.rank >= 0)] <= 1).all() and not apart[counters.rank < 0].any():
        return True, f"{told}; no rank does so more than once a file, as at its end"
    if every < FEW * ranks:
        return True, f"{told}; a rank has {every / ranks:.1f} on average, too few to tell of"
    return mean < block, f"{told}; blocks are of {block:,} B{', so that they are small says it' * (mean < block)}"


def by_rank(counters: Any, way: str, run_s: float, ranks: int) -> tuple[bool, str]:
    """Tell whether ranks with more bytes take no longer than others, or lose little, and how long they take."""
    mine = counters.of_layer("POSIX") & (counters.rank >= 0)
    if not mine.any() or ranks < 2:
        return False, ""
    moved, took = (
        np.bincount(counters.rank[mine], column[mine].astype(float), ranks)
        for column in (np.maximum(counters.of(way)[1], 0), counters.time(f"{way}_time"))
    )
    lost = float(took.max() - took.mean())
    explained = float(np.corrcoef(moved, took)[0, 1]) ** 2 if moved.std() and took.std() else 0.0
    times = f"the longest rank {took.max():.3g} s, the mean {took.mean():.3g} s"
    told = f"; {times}, of which bytes explain {explained:.0%}"
    return lost < 0.01 * run_s or explained < 0.1, told


def _largest(files: np.ndarray, reach: np.ndarray) -> np.ndarray:
    found = np.zeros(int(files.max(initial=0)) + 1, np.int64)
    np.maximum.at(found, files, reach)
    return found


def remarks(program: Path, log: Path) -> list[tuple[str, str]]:
    """Return the remarks with their codes."""
    done = subprocess.run(
        [program, "--light", "--issues", "--code", log], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        return [("", f"Drishti fails: {done.stderr.strip().splitlines()[-1]}")]
    text = re.sub(r"\s*│\s*\n\s*│\s*", " ", done.stdout)
    return [(one[1], one[2].strip()) for one in re.finditer(r"▶ \[(\w+)\] (.*?)(?= ▶|↪|│|╰)", text, re.DOTALL)]


def main() -> None:
    """Print a row for each remark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="+", type=Path)
    parser.add_argument("--drishti", type=Path, required=True)
    chosen = parser.parse_args()
    print("| log | remark | here |\n|---|---|---|")
    counts: dict[str, Counter[str]] = {}
    for log in chosen.logs:
        try:
            trace = iostrata.open_trace(log)
            findings = find(trace)
        except iostrata.TraceError:
            trace, findings = None, ()
        ids = {one.id for one in findings}
        for code, text in dict.fromkeys(remarks(chosen.drishti, log)):
            if not code or code in FACTS:
                here, kind = "as layers shows it" if code else "", "shown"
            else:
                said = sorted(ids.intersection(SAID.get(code, ())))
                against, told = (True, "") if said or trace is None else refuted(trace, code)
                kind = "said" if said else "not said" if against else "open"
                here = ", ".join(said) or f"{kind}: {told or 'there is nothing to look at'}"
            counts.setdefault(code, Counter())[kind] += 1
            print(f"| {log.stem} | {code} {text[:110]} | {here} |", flush=True)
    kinds = ("shown", "said", "not said", "open")
    print(f"\n| remark | {' | '.join(kinds)} |\n|---|---|---|---|---|")
    for code, often in sorted(counts.items()):
        print(f"| {code or 'Drishti fails'} | {' | '.join(str(often[kind] or '') for kind in kinds)} |")


if __name__ == "__main__":
    main()
