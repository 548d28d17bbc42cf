"""What Set-10 gains in the simulation, beside what its authors and FTIO published, and how long a simulation takes.

``python benchmarks/scheduling/study.py [runs]`` writes its section of benchmarks/RESULTS.md. No number of the
simulation was chosen to come near the published ones; what the papers do not tell, when jobs begin and how much their
computing varies, is varied here.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import iostrata
import numpy as np
from iostrata.runs.scheduling.comparison import Metrics, compare_policies, measure
from iostrata.runs.scheduling.jobs import PeriodicJob, Workload, make_workload
from iostrata.runs.scheduling.policies import Queues, queues_of
from iostrata.runs.scheduling.simulation import simulate

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import write_section

SHARE = 0.0625
"""Of the period that I/O takes, in the experiments of both papers."""
Scheduling = Callable[[Workload, np.random.Generator], Queues]


def regular(name: str, period: float, share: float = SHARE, jitter: float = 0.0) -> PeriodicJob:
    """Return a job of one period in s."""
    return PeriodicJob(name, np.array([period * (1 - share)]), np.array([period * share]), period=period, jitter=jitter)


def ftio_jobs(jitter: float = 0.0) -> list[PeriodicJob]:
    """Return the jobs of FTIO's experiment (IPDPS'24, section IV)."""
    return [regular("fast", 19.2, jitter=jitter)] + [regular(f"slow {n}", 384.0, jitter=jitter) for n in range(1, 16)]


def detected(workload: Workload, random: np.random.Generator) -> Queues:
    """Return Set-10's queues with the periods that iostrata finds in what each job did under fair share."""
    fair = queues_of(workload, "fair")
    run = simulate(workload, fair.queue, fair.weight)
    periods = np.full(len(workload.names), np.nan)
    for job, (begin, end) in enumerate(zip(workload.first[:-1], workload.first[1:], strict=True)):
        here = slice(begin, end)
        window = (float(workload.release[job]), float(run.end[end - 1]))
        signal = iostrata.step_signal(run.start[here], run.end[here], workload.work[here], window=window)
        periods[job] = iostrata.detect_period(signal).period or np.nan
    return queues_of(replace(workload, period=periods), "set-10", 0.0, random)


def rounded_down(workload: Workload, random: np.random.Generator) -> Queues:
    """Return queues with the logarithm of periods wrong by 50 % rounded down instead of to the nearest integer."""
    wrong = workload.period[workload.job_of_phase] * (1 + 0.5 * random.choice((-1.0, 1.0), len(workload.work)))
    numbers, queue = np.unique(np.floor(np.log10(wrong)), return_inverse=True)
    return Queues(queue, 10.0**-numbers)


WAYS: dict[str, Scheduling] = {
    "fair share": lambda work, _: queues_of(work, "fair"),
    "exclusive": lambda work, _: queues_of(work, "exclusive"),
    "Set-10": lambda work, _: queues_of(work, "set-10"),
    "Set-10, periods found by iostrata": detected,
    "Set-10, periods ±50 %": lambda work, random: queues_of(work, "set-10", 0.5, random),
    "the same, logarithm rounded down": rounded_down,
}


def means(metrics: Sequence[Metrics]) -> np.ndarray:
    """Return stretch, I/O slowdown and utilization: means over runs of the geometric means over jobs."""
    return np.mean([(one.mean_stretch, one.mean_io_slowdown, one.utilization) for one in metrics], axis=0)


def under(
    jobs: Sequence[PeriodicJob], ways: Sequence[str], runs: int, random_start: bool = True
) -> dict[str, np.ndarray]:
    """Return what each way makes of the jobs, over runs."""
    found: dict[str, list[Metrics]] = {way: [] for way in ways}
    for run in range(runs):
        workload = make_workload(jobs, np.random.default_rng((1, run)), random_start=random_start)
        for way in ways:
            queues = WAYS[way](workload, np.random.default_rng((2, run)))
            found[way].append(measure(simulate(workload, queues.queue, queues.weight)))
    return {way: means(several) for way, several in found.items()}


def bounds(runs: int) -> list[str]:
    """Return the table of like jobs."""
    lines = [
        f"**16 like jobs, {SHARE:.2%} I/O, random starts, {runs} runs.** The authors' bound is a utilization of .938 "
        "and a stretch of 1.00; from the fourth period on, when the jobs have found their places, and of 20 periods.",
        "",
        "| period | policy | stretch | I/O slowdown | utilization | of 20 periods |",
        "|---|---|---|---|---|---|",
    ]
    for period in (19.2, 384.0):
        jobs = [regular(str(number), period) for number in range(16)]
        for policy in ("fair", "set-10"):
            late, whole = (
                compare_policies(jobs, [policy], random_start=True, runs=runs, window=window).outcome(policy)
                for window in ((3 * period, None), None)
            )
            lines.append(
                f"| {period:g} s | {policy} | {late.stretch:.3f} | {late.io_slowdown:.2f} | {late.utilization:.4f} | "
                f"{whole.stretch:.3f}, {whole.io_slowdown:.2f}, {whole.utilization:.4f} |"
            )
    return lines


def published(runs: int) -> list[str]:
    """Return the tables of FTIO's experiment."""
    lines = [
        f"**FTIO's experiment** (IPDPS'24, section IV): 1 job of 19.2 s and 15 of 384 s, {SHARE:.2%} I/O, {runs} runs. "
        "Published for Set-10 with FTIO's periods: stretch −20 %, I/O slowdown −56 %, utilization +26 % against the "
        "unmodified BeeGFS; with periods wrong by 50 % stretch +5 %, I/O slowdown +27 %, utilization −4 % against "
        "that. Jobs begin at random times within their period and compute for the same time in each, as designed:",
        "",
        "| policy | stretch | I/O slowdown | utilization | against fair share | against Set-10 |",
        "|---|---|---|---|---|---|",
    ]
    main = under(ftio_jobs(), list(WAYS), runs)
    for way, row in main.items():
        lines.append(
            f"| {way} | {row[0]:.3f} | {row[1]:.2f} | {row[2]:.3f} | {changes(row, main['fair share'])} | "
            f"{changes(row, main['Set-10'])} |"
        )
    lines += [
        "",
        "The papers tell neither when the jobs began nor how much they vary. Changes of stretch, I/O slowdown and "
        "utilization by both:",
        "",
        "| starts | jitter of computing | Set-10 against fair share | periods ±50 % against Set-10 |",
        "|---|---|---|---|",
    ]
    ways = ("fair share", "Set-10", "Set-10, periods ±50 %")
    for random_start in (True, False):
        for jitter in (0.0, 0.02, 0.05, 0.1, 0.3):
            fair, ours, wrong = under(ftio_jobs(jitter), ways, runs, random_start).values()
            lines.append(
                f"| {'random' if random_start else 'all at 0'} | {jitter:.0%} | {changes(ours, fair)} | "
                f"{changes(wrong, ours)} |"
            )
    return lines


def changes(row: np.ndarray, base: np.ndarray) -> str:
    """Return the changes of all three in per cent."""
    return ", ".join(
        f"{100 * (one / other - 1):+.1f} %".replace("-", "−") for one, other in zip(row, base, strict=True)
    )


def groups(runs: int) -> list[str]:
    """Return the table of jobs in groups of like periods, which Set-10 is made for."""
    lines = [
        "**Jobs in groups**: 20 each with periods of about 10, 100 and 1000 s (standard deviation 30 %), alike in "
        f"their share of I/O, random starts, {runs} draws. Set-10's authors report for most of their simulations an "
        "I/O slowdown 50 % below fair share and 2.5 % more utilization (abstract of IO-Sets). Medians of the changes:",
        "",
        "| bandwidth asked for | jitter of computing | Set-10 against fair share | against exclusive |",
        "|---|---|---|---|",
    ]
    for load in (0.5, 0.8, 0.95):
        for jitter in (0.0, 0.1, 0.5):
            rows = []
            for seed in range(runs):
                random = np.random.default_rng((5, seed))
                jobs = [
                    regular(f"{usual} {number}", usual * max(random.normal(1, 0.3), 0.1), load / 60, jitter)
                    for usual in (10, 100, 1000)
                    for number in range(20)
                ]
                workload = make_workload(jobs, random, random_start=True)
                rows.append([of_way(way, workload, random) for way in ("fair share", "exclusive", "Set-10")])
            fair, alone, ours = np.array(rows).transpose(1, 0, 2)
            lines.append(f"| {load:.0%} | {jitter:.0%} | {middle(ours, fair)} | {middle(ours, alone)} |")
    return lines


def mixes(runs: int) -> list[str]:
    """Return the table of mixed jobs, which the policies were not looked at with before."""
    lines = [
        "**Mixed jobs**: 8 to 60 jobs with periods anywhere from 10 s to 1 h, unequal shares of I/O, jitter of 0 to 30 "
        f"%, random starts, {4 * runs} mixes a row. How jobs without a period are treated was chosen with others. "
        "Medians of the changes:",
        "",
        "| bandwidth asked for | Set-10 against fair share | against exclusive | better stretch than fair | "
        "half of the periods unknown, against fair share |",
        "|---|---|---|---|---|",
    ]
    for load in (0.3, 0.6, 0.9, 1.2):
        rows = []
        for seed in range(4 * runs):
            random = np.random.default_rng((4, seed, int(10 * load)))
            jobs = mixed_jobs(random, load)
            some = [replace(job, period=None) if random.random() < 0.5 else job for job in jobs]
            workload = make_workload(jobs, random, random_start=True)
            unknown = replace(workload, period=np.array([one.period or np.nan for one in some]))
            known = [of_way(way, workload, random) for way in ("fair share", "exclusive", "Set-10")]
            rows.append([*known, of_way("Set-10", unknown, random)])
        fair, alone, ours, half = np.array(rows).transpose(1, 0, 2)
        lines.append(
            f"| {load:.0%} | {middle(ours, fair)} | {middle(ours, alone)} | {(ours[:, 0] < fair[:, 0]).mean():.0%} | "
            f"{middle(half, fair)} |"
        )
    return lines


def of_way(way: str, workload: Workload, random: np.random.Generator) -> np.ndarray:
    """Return what a way makes of a workload."""
    queues = WAYS[way](workload, random)
    return means([measure(simulate(workload, queues.queue, queues.weight))])


def mixed_jobs(random: np.random.Generator, load: float) -> list[PeriodicJob]:
    """Return jobs that together ask for a share `load` of the bandwidth."""
    count = int(random.integers(8, 61))
    shares = load * random.dirichlet(np.full(count, 2.0))
    periods = 10 ** random.uniform(1.0, 3.56, count)
    jitter = random.uniform(0, 0.3)
    return [regular(str(n), float(periods[n]), float(min(shares[n], 0.9)), jitter) for n in range(count)]


def middle(rows: np.ndarray, base: np.ndarray) -> str:
    """Return the median changes of all three in per cent."""
    return changes(np.median(rows / base, axis=0), np.ones(3))


def durations() -> list[str]:
    """Return the table of processor time of the whole command."""
    lines = [
        "**Processor time of the whole command**: four policies, 20 I/O phases a job, jitter 10 %, 90 % of the "
        "bandwidth asked for.",
        "",
        "| jobs | phases simulated | CPU | memory |",
        "|---|---|---|---|",
    ]
    for count in (1_250, 2_500, 5_000, 10_000, 20_000):
        random = np.random.default_rng(count)
        share = 0.9 * random.dirichlet(np.ones(count))
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder, "jobs.csv")
            rows = [f"{n},{10 ** random.uniform(1, 4):.6g},{max(share[n], 1e-9):.6g},20,0.1" for n in range(count)]
            table.write_text("\n".join(["job,period_s,io_share,iterations,compute_jitter", *rows]))
            child = os.fork()
            if not child:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                command = [sys.executable, "-m", "iostrata.cli", "schedule", str(table), "--random-start", "--json"]
                os.execv(sys.executable, command)
            _, status, usage = os.wait4(child, 0)
        if status:
            raise SystemExit("iostrata schedule failed")
        cpu = usage.ru_utime + usage.ru_stime
        lines.append(f"| {count:,} | {4 * 20 * count:,} | {cpu:.1f} s | {usage.ru_maxrss / 1000:,.0f} MB |")
    return lines


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    parts = [bounds(runs), published(runs), groups(runs), mixes(runs), durations()]
    body = "\n\n".join("\n".join(part) for part in parts)
    print(body)
    write_section("Scheduling I/O by period (`make scheduling`)", body)


if __name__ == "__main__":
    main()
