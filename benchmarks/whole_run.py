"""Start-up and a whole run on the demo archive, beside FTIO on the same data.

FTIO reads no OTF2: it gets the MPI-IO writes of the archive as one JSON file in the layout of its own tracer, which
costs it no part of the work that iostrata does to find them.
"""

import argparse
import json
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

import iostrata
from processes import interleaved
from results import write_section

FTIO = "ftio-hpc==0.0.9"
ARCHIVE = Path(__file__).parents[1] / "fixtures" / "ncckpt4"


def ftio_program(folder: Path) -> str:
    """Return the path of `ftio` in an environment of its own in `folder`, made on first use."""
    program = folder / "bin" / "ftio"
    if not program.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", FTIO], check=True)
    return str(program)


def write_for_ftio(path: Path) -> None:
    """Write the MPI-IO writes of the archive for FTIO: start, end and bandwidth of every operation."""
    trace = iostrata.open_trace(ARCHIVE)
    operations = trace.layers["MPI-IO"].operations
    writes = operations.take((operations.mode == 1) & (operations.end > operations.begin))
    second = trace.definitions.clock.ticks_per_second
    begin, end = writes.begin / second, writes.end / second
    kinds = ("read_sync", "read_async_t", "read_async_b", "write_async_t", "write_async_b")
    empty = {"b_rank_sum": [], "b_rank_avr": [], "t_rank_s": [], "t_rank_e": []}
    document = {kind: {"total_bytes": 0, "number_of_ranks": trace.ranks, "bandwidth": empty} for kind in kinds}
    rate = (writes.bytes_moved / (end - begin)).tolist()
    bandwidth = {"b_rank_sum": rate, "b_rank_avr": rate, "t_rank_s": begin.tolist(), "t_rank_e": end.tolist()}
    document["write_sync"] = {
        "total_bytes": int(writes.bytes_moved.sum()),
        "number_of_ranks": trace.ranks,
        "total_io_ops": len(writes),
        "bandwidth": bandwidth,
    }
    document["io_time"] = {"delta_t_agg": trace.duration, "delta_t_agg_io": float((end - begin).sum())}
    path.write_text(json.dumps(document))


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--ftio-environment", type=Path, default=Path("build/ftio"))
    arguments = parser.parse_args()
    ftio = ftio_program(arguments.ftio_environment.resolve())
    own = str(Path(sysconfig.get_path("scripts")) / "iostrata")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "writes.json"
        write_for_ftio(data)
        periods = [own, "periods", str(ARCHIVE), "--json"]
        commands = {
            "help iostrata": [own, "--help"],
            "help ftio": [ftio, "--help"],
            "help python": [sys.executable, "-c", "pass"],
            "run iostrata, one layer": [*periods, "--layer", "MPI-IO", "--direction", "write"],
            "run iostrata, all layers": periods,
            "run iostrata, convert": [own, "convert", str(ARCHIVE), str(Path(folder) / "out.h5")],
            "run ftio": [ftio, str(data), "-e", "no", "-f", "100"],
        }
        runs = interleaved(commands, arguments.rounds, folder)
    lines = [
        "| command | time in s | peak memory in MB | time, ratio to FTIO | memory, ratio to FTIO |",
        "|---|---|---|---|---|",
    ]
    for name, figures in runs.items():
        peer = runs["help ftio" if name.startswith("help") else "run ftio"]
        lines.append(
            f"| {name} | {figures.seconds:.2f} | {figures.peak_mb:.0f} "
            f"| {figures.seconds / peer.seconds:.2f} | {figures.peak_mb / peer.peak_mb:.2f} |"
        )
    lines.append(
        f"\nMedians of {arguments.rounds} interleaved runs on `fixtures/ncckpt4`. FTIO (0.0.9) gets the MPI-IO writes "
        "alone, already extracted, at 100 Hz; iostrata reads the archive."
    )
    write_section("Start-up and whole run", "\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
