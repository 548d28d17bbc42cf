"""Real programs under a real Score-P with our plugin, and `iostrata watch` at default options beside them.

    python benchmarks/watching/programs.py SCOREP FOLDER [PROGRAM...]     # writes a section of benchmarks/RESULTS.md

SCOREP is the prefix of a Score-P whose Open MPI is on the PATH, as are the programs: Debian's lammps, ffmpeg, samtools
(with wgsim), bwa and tar, which are not recompiled. Each is traced, too, and what `watch` said is compared with that.
Processor time is that of the process of `watch` by the time that the program ran, from its first line on, and over all
of it, with its start and its last update, which is `periods` on all that moved.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import iostrata
from costs import processor_seconds
from iostrata.live.following import trace_columns
from iostrata.live.records.intake import Intake, Key, Spans
from iostrata.live.sources import open_source
from judged import HEAD, Judged, Line, judged

sys.path.append(str(Path(__file__).resolve().parents[1]))
from results import write_section

TITLE = "`watch` beside programs that run (`python benchmarks/watching/programs.py`)"
PLUGIN = Path(__file__).resolve().parents[2] / "live" / "scorep"
ARCHIVE = "archive/traces.otf2"
OPEN_MPI = {
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
# It waits after every dump, and for half as long after the 20th.
LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
dump traj all custom/mpiio 50 traj.mpiio id type x y z
thermo 100
run 1000 every 50 "shell sleep 2"
dump_modify traj every 20
run 400 every 20 "shell sleep 1"
"""
READS = "wgsim -N 150000 -1 100 -2 100 genome.fa r1.fq r2.fq > /dev/null"
GENOME = (
    "python3 -c \"import random; random.seed(1); print('>g'); "
    "print('\\n'.join(''.join(random.choices('ACGT', k=60)) for _ in range(8000)))\" > genome.fa"
)
SORTED = (
    "python3 -c \"import random; random.seed(2); print('@SQ\\tSN:g\\tLN:480000'); "
    "[print(f'r{n}\\t0\\tg\\t{random.randint(1, 479000)}\\t60\\t100M\\t*\\t0\\t0\\t' + "
    "''.join(random.choices('ACGT', k=100)) + '\\t' + 'I' * 100) for n in range(300000)]\" > reads.sam"
)


@dataclass(frozen=True)
class Program:
    """How it is called, what makes its input, and whether by mpirun with two ranks."""

    command: str
    before: tuple[str, ...] = ()
    mpi: bool = False


PROGRAMS: Mapping[str, Program] = {
    "lammps": Program("/usr/bin/lmp -in in.lj -log none -screen none", mpi=True),
    "ffmpeg": Program(
        "/usr/bin/ffmpeg -nostdin -loglevel error -threads 1 -re -f lavfi -i testsrc2=size=320x180:rate=10 -t 60 "
        "-c:v mpeg2video -threads 1 -g 20 -f hls -hls_time 2 -hls_list_size 0 -hls_segment_filename seg%03d.ts out.m3u8"
    ),
    "tar": Program("/usr/bin/tar --checkpoint=900 --checkpoint-action=sleep=2 -cf out.tar /usr/include /usr/share/doc"),
    "samtools": Program("/usr/bin/samtools sort -l 9 -m 6M -T part -o sorted.bam reads.sam", (SORTED,)),
    "bwa": Program(
        "/usr/bin/bwa mem -t 1 -k 12 -c 2000 -K 240000 -o out.sam genome.fa r1.fq r2.fq",
        (GENOME, READS, "bwa index genome.fa 2> /dev/null"),
    ),
}


def recorded(program: Program, scorep: Path, folder: Path) -> tuple[list[Line], dict[str, float]]:
    """Run a program beside `watch`; return the lines, and seconds by what they are."""
    folder.mkdir(parents=True)
    live, out = folder / "live", folder / "lines.jsonl"
    (folder / "in.lj").write_text(LAMMPS)
    path = {**os.environ, "PATH": f"{scorep / 'bin'}:{os.environ['PATH']}"}
    for command in program.before:
        subprocess.run(command, shell=True, cwd=folder, check=True)
    executable, kind = program.command.split()[0], "mpi" if program.mpi else "none"
    preload = ["scorep-preload-init", "--value-only", f"--mpp={kind}", "--io=runtime:posix", executable, "preload"]
    (folder / "preload").mkdir()
    done = subprocess.run(preload, cwd=folder, env=path, check=True, capture_output=True, text=True)
    live.mkdir()
    surroundings = {
        "LD_PRELOAD": done.stdout.strip(),
        "LD_LIBRARY_PATH": str(folder.parent / "lib"),
        "SCOREP_ENABLE_TRACING": "true",
        "SCOREP_ENABLE_PROFILING": "false",
        "SCOREP_IO_POSIX": "true",
        "SCOREP_TIMER": "clock_gettime",
        "SCOREP_TOTAL_MEMORY": "256M",
        "SCOREP_EXPERIMENT_DIRECTORY": str((folder / ARCHIVE).parent),
        "SCOREP_SUBSTRATE_PLUGINS": "iostrata",
        "IOSTRATA_LIVE": str(live),
    }
    own = ["env", *(f"{name}={value}" for name, value in surroundings.items()), *program.command.split()]
    launcher = ["mpirun", "-n", "2", "--oversubscribe"] if program.mpi else []
    seconds = {"began": time.monotonic()}
    with out.open("wb") as file:
        watch = subprocess.Popen([sys.executable, "-m", "iostrata.cli", "watch", str(live)], stdout=file)
    run = subprocess.Popen([*launcher, *own], cwd=folder, env={**os.environ, **OPEN_MPI}, stderr=subprocess.DEVNULL)
    while not out.stat().st_size and watch.poll() is None:
        time.sleep(0.02)
    seconds["first"], seconds["start"] = time.monotonic(), processor_seconds(watch.pid)
    code = run.wait()
    seconds["over"], seconds["beside"] = time.monotonic(), processor_seconds(watch.pid)
    if code != 0:
        watch.terminate()
        raise SystemExit(f"{program.command} ended with {code}")
    _, _, used = os.wait4(watch.pid, 0)
    seconds |= {"ended": time.monotonic(), "all": used.ru_utime + used.ru_stime}
    return [json.loads(line) for line in out.open()], seconds


def told(folder: Path) -> tuple[dict[Key, Spans], float]:
    """Return all that the plugin told, and the end of its clock in s; check that the archive has the same bytes."""
    intake = Intake()
    source = open_source(str(folder / "live"), intake)
    while source.read():
        pass
    source.close()
    streams = intake.take()
    recorded = {key: int(own.volume.sum()) for key, own in trace_columns(iostrata.open_trace(folder / ARCHIVE))}
    if {key: int(own.volume.sum()) for key, own in streams.items()} != recorded:
        raise SystemExit(f"{folder}: what was told is not what was recorded")
    return streams, intake.clock.now or 0.0


def main() -> None:
    """Run all programs, or those that are named."""
    scorep, folder, *names = sys.argv[1:]
    folder = Path(folder).resolve()
    subprocess.run(["make", "-s", "-C", PLUGIN, f"SCOREP={scorep}", f"OUT={folder / 'lib'}"], check=True)
    every = Judged()
    rows = [f"| program | time | load | share of a core | with its start | {HEAD} |"]
    rows.append("|---" * (5 + HEAD.count("|") + 1) + "|")
    for name in names or PROGRAMS:
        lines, seconds = recorded(PROGRAMS[name], Path(scorep), folder / name)
        streams, end = told(folder / name)
        found = judged(lines, streams.items(), lines[-1]["time_s"] - end)
        found.wrong = [f"{name} {one}" for one in found.wrong]
        every.add(found)
        following = (seconds["beside"] - seconds["start"]) / (seconds["over"] - seconds["first"])
        whole = seconds["all"] / (seconds["ended"] - seconds["began"])
        time_s, load = seconds["ended"] - seconds["first"], os.getloadavg()[0]
        rows.append(f"| {name} | {time_s:.0f} s | {load:.0f} | {following:.2%} | {whole:.2%} | {found.row()} |")
        print(rows[-1], flush=True)
    rows += [f"| all | | | | | {every.row()} |", "", *(f"- {one}" for one in every.wrong)]
    write_section(TITLE, "\n".join(rows))


if __name__ == "__main__":
    main()
