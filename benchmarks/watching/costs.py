"""What following a running job costs: processor time of an update, memory over many operations, and at rest.

    python benchmarks/watching/costs.py          # 10^6 operations, to RESULTS.md; some minutes
    python benchmarks/watching/costs.py 50000    # fewer; prints only

The command `iostrata watch` follows a file that grows by 1,000 operations for each of its updates; what it takes is
read from the system, so reading lines, looking at signals and writing answers are all in it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import write_section

OPERATIONS = 1_000_000
FOR_UPDATE = 1_000
INTERVAL = 0.2
"""Real time in s between updates."""
BEFORE = 20
"""Updates before memory and time are counted: compiled code is loaded in the first ones."""
IDLE = 20.0
"""Time in s for which nothing comes."""
PER_PHASE = 150
LAYERS = ("MPI-IO", "POSIX")


def lines(count: int) -> list[bytes]:
    """Return the lines of each update: 8 ranks in phases of 20 s, then of 13 s, and so on, each 300 phases long."""
    random = np.random.default_rng(5)
    phases = count // (PER_PHASE * len(LAYERS)) + 1
    period = np.where((np.arange(phases) // 300) % 2 == 0, 20.0, 13.0)
    begins = np.cumsum(period * (1 + 0.02 * random.standard_normal(phases)))
    start = np.repeat(begins, PER_PHASE * len(LAYERS)) + np.tile(np.arange(PER_PHASE * len(LAYERS)) * 0.01, phases)
    end = start + random.uniform(0.01, 0.05, start.size)
    order = np.argsort(end)[:count]
    volume = random.integers(2**16, 2**20, count)
    rows = zip(order.tolist(), start[order].tolist(), end[order].tolist(), volume.tolist(), strict=True)
    told = [
        json.dumps(
            {"layer": LAYERS[n % 2], "rank": n % 8, "mode": "write", "start": one, "end": other, "bytes": moved}
        ).encode()
        + b"\n"
        for n, one, other, moved in rows
    ]
    return [b"".join(told[low : low + FOR_UPDATE]) for low in range(0, count, FOR_UPDATE)]


def processor_seconds(process: int) -> float:
    """Return the processor time in s that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(process: int) -> float:
    """Return the memory in MB that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Follow, and tell what it took."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else OPERATIONS
    parts = lines(count)
    with tempfile.TemporaryDirectory() as folder:
        path, answers = Path(folder, "live.jsonl"), Path(folder, "answers.jsonl")
        path.touch()
        command = [sys.executable, "-m", "iostrata.cli", "watch", str(path), "--json", "--interval", str(INTERVAL)]
        with answers.open("wb") as out, subprocess.Popen(command, stdout=out) as watch:
            # Not before it follows: reading all at once would be one update.
            with path.open("ab", buffering=0) as file:
                file.write(parts[0])
                while not answers.stat().st_size:
                    time.sleep(0.05)
                for part in parts[1:BEFORE]:
                    file.write(part)
                    time.sleep(INTERVAL)
                seconds, held = processor_seconds(watch.pid), resident_mb(watch.pid)
                updates = told(answers)
                for part in parts[BEFORE:]:
                    file.write(part)
                    time.sleep(INTERVAL)
                time.sleep(2 * INTERVAL)
                updates = told(answers) - updates
                seconds = processor_seconds(watch.pid) - seconds
                grown = resident_mb(watch.pid) - held
                idle = processor_seconds(watch.pid)
                time.sleep(IDLE)
                idle = (processor_seconds(watch.pid) - idle) / IDLE
                file.write(b'{"kind": "end", "time": 0}\n')
            watch.wait(60)
        last = [json.loads(line) for line in answers.read_text().splitlines()[-len(LAYERS) :]]
    if sum(answer["operations"] for answer in last) != count:
        raise SystemExit("operations were lost")
    operations = count - BEFORE * FOR_UPDATE
    each = 1000 * seconds / (operations / FOR_UPDATE)
    first = BEFORE * FOR_UPDATE
    body = "\n".join(
        [
            f"`iostrata watch FILE --json --interval {INTERVAL}` beside a writer of {count:,} operations of "
            f"{len(LAYERS)} layers, {FOR_UPDATE:,} for each update.",
            "",
            "| what | measured |",
            "|---|---|",
            f"| processor time for {FOR_UPDATE:,} operations with their update | {each:.2f} ms ({updates:,} updates) |",
            f"| growth of memory from operation {first:,} to {count:,} | {grown:+.1f} MB |",
            f"| share of a core while nothing comes, an update every {INTERVAL} s | {idle:.2%} |",
        ]
    )
    print(body)
    if count >= OPERATIONS:
        write_section("Following a running job (`make watching`)", body)


def told(answers: Path) -> int:
    """Return the number of updates so far."""
    return answers.read_bytes().count(b'"layer": "POSIX"')


if __name__ == "__main__":
    main()
