"""What following a running job costs: processor time of an update, memory over many operations, and at rest.

    python benchmarks/watching/costs.py          # 10^6 operations, to RESULTS.md; some minutes
    python benchmarks/watching/costs.py 50000    # fewer; prints only

The command `iostrata watch` follows a file that grows by what a job does meanwhile, some 1,000 operations for each of
its updates: the job's clock goes as fast as ours, as what looks at signals may take is a share of that. What it takes
is read from the system, so reading lines, looking at signals and writing answers are all in it.
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
INTERVAL = 0.2
"""Time in s between updates."""
BEFORE = 20
"""Updates before memory and time are counted: compiled code is loaded in the first ones."""
IDLE = 20.0
"""Time in s for which nothing comes."""
PER_PHASE = 5_000
"""Operations of a layer."""
LAYERS = ("MPI-IO", "POSIX")


def lines(count: int) -> list[bytes]:
    """Return the lines of each update: 8 ranks in phases of 2 s, from the 40th on of 1.6 s, then of 2 s again."""
    random = np.random.default_rng(5)
    phases = count // (PER_PHASE * len(LAYERS)) + 1
    period = np.where((np.arange(phases) // 40) % 2 == 0, 2.0, 1.6)
    begins = np.cumsum(period * (1 + 0.02 * random.standard_normal(phases))) - 2.0
    each = PER_PHASE * len(LAYERS)
    start = np.repeat(begins, each) + np.tile(np.arange(each) * 1e-4, phases)
    end = start + random.uniform(0.01, 0.05, start.size)
    order = np.argsort(end)[:count]
    volume = random.integers(2**16, 2**20, count)
    parts: list[list[bytes]] = [[] for _ in range(int(end[order[-1]] / INTERVAL) + 1)]
    rows = zip(order.tolist(), start[order].tolist(), end[order].tolist(), volume.tolist(), strict=True)
    for n, one, other, moved in rows:
        row = {"layer": LAYERS[n % 2], "rank": n % 8, "mode": "write", "start": one, "end": other, "bytes": moved}
        parts[max(0, int(other / INTERVAL))].append(json.dumps(row).encode() + b"\n")
    return [b"".join(part) for part in parts]


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
                began = time.monotonic()
                for number, part in enumerate(parts[BEFORE:]):
                    file.write(part)
                    time.sleep(max(0.0, began + (number + 1) * INTERVAL - time.monotonic()))
                took = time.monotonic() - began
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
    first = sum(part.count(b"\n") for part in parts[:BEFORE])
    each = 1000 * seconds / ((count - first) / 1000)
    body = "\n".join(
        [
            f"`iostrata watch FILE --json --interval {INTERVAL}` beside a writer of {count:,} operations of "
            f"{len(LAYERS)} layers, {count / len(parts):,.0f} for each update, whose clock goes as fast as ours.",
            "",
            "| what | measured |",
            "|---|---|",
            f"| processor time for 1,000 operations with their update | {each:.2f} ms ({updates:,} updates) |",
            f"| share of a core meanwhile | {seconds / took:.2%} |",
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
