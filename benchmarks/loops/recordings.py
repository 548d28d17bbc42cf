"""The loops that commands and input files of real recordings state, beside those found, as a table of the guide.

``python benchmarks/loops/recordings.py FOLDER`` prints it; in FOLDER are traces, benchmarks, apps and recorders.
"""

import sys
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, NamedTuple

import iostrata
from iostrata.analysis.loops.find import find_loops
from iostrata.analysis.loops.loops import BodyStep

KIB, MIB = 1 << 10, 1 << 20


class Stated(NamedTuple):
    """A stream: its files, how often it is repeated, and the bytes of all ranks that a repetition reads and writes."""

    file: str
    count: int
    read: int | None = None
    written: int | None = None


def ior(file: str, count: int, ranks: int, block: int, read: bool = False) -> list[Stated]:
    return [Stated(file, count, ranks * block if read else 0, ranks * block)]


def checkpoint(count: int, log: int, volume: int) -> list[Stated]:
    return [Stated("*ckpt_*.dat", count, 0, volume), Stated("*run.log", log)]


def netcdf(file: str = "*out.nc", count: int = 20) -> list[Stated]:
    return [Stated(file, count), Stated("*run.log", 80)]


STATED: Final[dict[str, list[Stated]]] = {
    "benchmarks/benchio8": [
        Stated("*serial.dat", 10, 0, 8 * 4_096_000),
        Stated("*mpiio.dat", 10, 0, 8 * 4_096_000),
    ],
    "benchmarks/btio_pnetcdf9": [Stated("*btio.nc", 20)],
    "benchmarks/h5bench_write8": [Stated("*h5bench.h5", 10, 0, 8 * 8 * 256 * KIB)],
    "benchmarks/ior_compiler4": ior("*comp", 8, 4, 2 * MIB, True),
    "benchmarks/ior_fsync_per_write": ior("*sync", 8, 4, 512 * KIB),
    "benchmarks/ior_large16": ior("*large", 6, 16, 16 * MIB, True),
    "benchmarks/ior_mpiio_coll8": ior("*coll", 8, 8, 4 * MIB, True),
    "benchmarks/ior_posix_fpp8": ior("*fpp.*", 8, 8, 4 * MIB, True),
    "benchmarks/ior_posix_shared8": ior("*shared", 8, 8, 4 * MIB, True),
    "benchmarks/mdtest8": [Stated("*file.mdtest.*", 4, 0, 0)],
    "benchmarks/mdworkbench4": [Stated("*file-*", 4)],
    **{f"benchmarks/pair_{one}": ior("*pair", 8, 8, 4 * MIB) for one in ("ompio", "romio")},
    **{f"benchmarks/pair_strided_{one}": ior("*pair", 8, 8, 2 * MIB) for one in ("coll", "indep")},
    **{f"benchmarks/pair_xfer_{one}": ior("*pair", 8, 4, MIB) for one in ("1m", "4k")},
    **{f"benchmarks/sig_run{one}": ior("*sig", 10, 8, 2 * MIB) for one in range(1, 7)},
    "traces/ckpt16": checkpoint(8, 64, 16 * 256 * KIB),
    "traces/ckpt4": checkpoint(20, 80, 8 * MIB),
    "traces/ckpt4_compiler": checkpoint(8, 32, 8 * MIB),
    "traces/ckpt4_compiler_flush": checkpoint(10, 40, 8 * MIB),
    "traces/ckpt4_jitter": checkpoint(60, 174, MIB),
    "traces/ckpt4_linktime": checkpoint(20, 80, 8 * MIB),
    "traces/ckpt4_romio": checkpoint(20, 80, 8 * MIB),
    "traces/ckpt4_tsc": checkpoint(20, 66, 8 * MIB),
    "traces/ckpt8_unnested": checkpoint(20, 80, 16 * MIB),
    "traces/ior384": [Stated("*write_sync.dat", 8), Stated("*read_sync.dat", 8)],
    "traces/mixed4": [Stated("*state.dat", 20, 0, 8 * MIB), Stated("*log_*.bin", 80, 0, 32 * KIB)],
    **{f"traces/ncckpt4{one}": netcdf() for one in ("", "_indep", "_nofill", "_plain", "_romio")},
    "traces/ncckpt4_perstep": netcdf("*out_*.nc"),
    "traces/ncckpt8": netcdf(),
    "traces/serial1": [Stated("*state_*.bin", 24, 0, MIB), Stated("*run.log", 74)],
    "apps/bwa_mem1": [Stated("*r*.fq", 10), Stated("*out.sam", 10)],
    "apps/cp2k_md2": [
        Stated("*h2o-pos-1.xyz", 7, 0, 265),
        Stated("*h2o-vel-1.xyz", 5, 0, 265),
        Stated("*h2o-1.ener", 13),
        Stated("*h2o-1.restart", 3),
        Stated("*h2o-1_*.restart", 2),
        Stated("*h2o-RESTART.wfn", 4, 0, 1048),
    ],
    "apps/ffmpeg_hls1": [Stated("*in.yuv", 600), Stated("*seg*.ts", 12), Stated("*out.m3u8.tmp", 12)],
    "apps/gromacs_cpt4": [
        Stated("*md.xtc", 79),
        Stated("*md.edr", 31),
        Stated("*md_step*.cpt", 5, 0, 12_412),
    ],
    "apps/lammps_mpiio4": [
        Stated("*traj.mpiio", 31),
        Stated("*vel.*.mpiio", 8),
        Stated("*.restart.mpiio", 5, 0, 1_441_792),
    ],
    "apps/mrbayes1": [
        Stated("*primates.run*.*", 101),
        Stated("*primates.ckp", 10),
        Stated("*primates.mcmc", 5),
    ],
    "apps/nwchem_opt2": [Stated("*h2o.aoints.*", 5)],
    "apps/samtools_sort1": [Stated("*sort.*.bam", 5)],
    "recorders/tmio/384.msgpack": [Stated("*", 8, 384 * 20 * MIB, 384 * 20 * MIB)],
    "recorders/darshan/lammps_summit.darshan": [Stated("*data.0", 11)],
    "recorders/dftracer_dlio": [Stated("*img_*", 5)],
}
NOTHING: Final = ("traces/aperiodic4", "apps/tar_create1")


def verdicts(found: iostrata.Loops, stated: Stated) -> tuple[str, bool, bool]:
    """Return the counts of the loops on some files, whether one is right, and whether its bytes are."""
    mine = [one for one in found.outermost if any(fnmatch(step.file, stated.file) for step in one.body)]
    exact = [one for one in mine if one.count == stated.count]
    whole = [one for one in exact if _same_bytes(one, stated)]
    # What some iterations of another loop do is told with these.
    added = [one for loop in found.outermost for one in loop.added or () if fnmatch(one.step.file, stated.file)]
    some = [one for one in added if one.iterations == stated.count]
    moved = {kind: sum(_mean(one.step) for one in some if one.step.kind == kind) for kind in ("read", "write")}
    wanted = {"read": stated.read, "write": stated.written}
    same = bool(some) and all(wanted[kind] in (None, round(moved[kind])) for kind in moved)
    counts = [one.count for one in mine] or sorted({one.iterations for one in added})
    return ", ".join(map(str, counts[:4])) or "–", bool(exact or some), bool(whole) or same


def _mean(step: BodyStep) -> float:
    return step.count * (step.mean_bytes or 0.0)


def _same_bytes(loop: iostrata.Loop, stated: Stated) -> bool:
    # A layer above may only delete the file.
    top = max(loop.sums.values(), key=lambda one: one.bytes_read + one.bytes_written > 0)
    for wanted, moved in ((stated.read, top.bytes_read), (stated.written, top.bytes_written)):
        if wanted is not None and moved != wanted * loop.count:
            return False
    return True


def main(shared: Path) -> None:
    counts = exact = same = 0
    took = [0.0, 0.0]
    print("recording,files,stated,found,count,bytes")
    for name, streams in STATED.items():
        started = time.perf_counter()
        trace = iostrata.open_trace(shared / name)
        opened = time.perf_counter()
        found = find_loops(trace)
        took[0], took[1] = took[0] + opened - started, took[1] + time.perf_counter() - opened
        for one in streams:
            text, right, bytes_too = verdicts(found, one)
            counts, exact, same = counts + 1, exact + right, same + bytes_too
            print(f'{name},{one.file},{one.count},"{text}",{"yes" if right else "no"},{"yes" if bytes_too else "no"}')
    for name in NOTHING:
        loops = [one.count for one in find_loops(iostrata.open_trace(shared / name)).outermost if one.bits]
        counts, exact, same = counts + 1, exact + (not loops), same + (not loops)
        print(f'{name},,none,"{loops or "none"}",{"no" if loops else "yes"},{"no" if loops else "yes"}')
    print(f"# {counts} streams: count exact in {exact}, bytes too in {same}")
    print(f"# read in {took[0]:.2f} s, loops found in {took[1]:.2f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
