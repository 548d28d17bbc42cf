"""Show the bursts of I/O that all runs of an application share."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from .. import request as cli
from ..options import POSITIVE, option, output_option, picture_option

if TYPE_CHECKING:
    from ...export.written import Written
    from ...layers.selection.directions import Direction
    from ...runs.signatures.sample import Sample
    from ...runs.signatures.signature import Recorded, SampleUse, Signature
    from ...runs.signatures.traces import RunSignals

RUNS = click.argument("traces", metavar="[RUNS]...", nargs=-1, type=click.Path(path_type=Path))
LAYER = option(
    "--layer NAME", "The layer whose bandwidth is looked at.  [default: the highest that moved bytes in all runs]"
)
DIRECTION = option("--direction", "Direction of the transfers.", choices=["read", "write", "total"], default="total")
INTERVAL = option(
    "--interval S",
    "Spacing of the values in s.  [default: that of the log; of traces about 1/200 of the shortest]",
    type=POSITIVE,
)
GAMMA = option(
    "--gamma",
    "Share of the runs that make a unit of the grid dense; for logs only.",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
)
KAPPA = option(
    "--kappa", "Share of the runs that must have a burst.", type=click.FloatRange(0, 1, min_open=True), default=0.9
)
LEVEL = option(
    "--level",
    "Level of the wavelet decomposition: bursts closer than about 2^LEVEL intervals become one.",
    type=click.IntRange(1, 8),
    default=2,
)
METHOD = option(
    "--method",
    "By the loops of the program, for traces; IOSI; or to compare with it dynamic time warping, or IOSI without "
    "preprocessing.  [default: loops where runs share some, else iosi]",
    choices=["loops", "iosi", "dtw", "plain"],
)
LOG = option(
    "--log FILE",
    "Throughput that a file system's servers counted, in place of traces: CSV with time,bytes_per_second (s since "
    "the epoch), or HDF5 of LMT or TOKIO. Needs --jobs.",
)
JOBS = option("--jobs FILE.csv", "When the application ran: CSV with name,start,end in s since the epoch.")
PARTIAL = option(
    "--partial",
    "Some runs ended early, or still go on: all are cut to the length of the shortest, in place of being brought "
    "to it, and the signature is of what they begin with.",
)
KNOWN = option(
    "--known FILE.json",
    "Compare RUNS, one or more, with the signature that an earlier call printed with --json: whether each is a "
    "usual run, and which of its bursts deviate.",
)
OUT = output_option(
    "OUT.html|.h5",
    "Also write a page with all steps, or the signature as netCDF-4. A file that is there already is replaced "
    "once the new one is complete.",
)
PLOT = picture_option("Draw the signature above its runs (needs matplotlib).")


@cli.runs_command(
    "signature run1 run2 run3 run4 run5 --layer MPI-IO --direction write",
    RUNS, LAYER, DIRECTION, INTERVAL, LOG, JOBS, METHOD, LEVEL, GAMMA, KAPPA, PARTIAL, KNOWN, OUT, PLOT,
)  # fmt: skip
def command(
    traces: tuple[Path, ...],
    request: cli.Request,
    layer: str | None,
    direction: "Direction",
    interval: float | None,
    log: Path | None,
    jobs: Path | None,
    method: str | None,
    level: int,
    gamma: float,
    kappa: float,
    partial: bool,
    known: Path | None,
    out: Path | None,
    picture: Path | None,
) -> None:
    """RUNS are traces of one application, at least 2, better 5 to 10, folders or collections of nothing else, or
    FOLDER:PATTERN for the runs in either whose name matches. With --log and --jobs they are instead cut out of what a
    file system's servers counted, with other jobs' traffic in it, which is taken off (IOSI, FAST'14).

    What --json prints is taken back: by --known, by "iostrata watch --signature" and by "iostrata schedule".

    Traces whose program repeats itself have a signature by its loops: each iteration that all runs have is a burst, and
    no run is left out for its length or volume. Of others the curves of bandwidth tell.

    One row a burst: when in s from the start of a run, how many bytes, in how many of the runs, and how far apart
    these are. Values are in B/s with decimal prefixes (1 MB/s = 1,000,000 B/s). Runs that stand out are dropped,
    and named.
    """
    wrong = {
        "--method loops takes traces: a log does not tell what a program called": bool(log) and method == "loops",
        "--log and --jobs belong together: what was counted, and when the application ran": bool(log) != bool(jobs),
        "name the traces of several runs, or a log with --log and --jobs": bool(traces) == bool(log),
        f"--gamma {gamma:g} is larger than --kappa {kappa:g}: it is to be the smaller of them": gamma > kappa,
    }
    cli.refuse(wrong)
    if known is not None:
        cli.refuse_given("is what a signature is found with, and --known has one", *_OF_FINDING)
        _compare(traces, request, known)
        return
    method = _method(method, log)
    cli.prepare_picture(picture)
    from ...runs.signatures.sample import cut_to_shortest
    from ...runs.signatures.scaling import scaling_of
    from ...runs.signatures.signature import extract_signature
    from ...runs.signatures.traces import trace_samples

    left_out: tuple[SampleUse, ...] = ()
    chosen = signature = scaling = None
    if log is not None and jobs is not None:
        samples, left_out = _from_log(log, jobs, direction, interval)
        samples = cut_to_shortest(samples) if partial else samples
    else:
        runs, chosen = _read_runs(traces, request, layer, direction)
        samples = trace_samples(runs, chosen, interval)
        samples = cut_to_shortest(samples) if partial else samples
        scaling = scaling_of(runs, chosen)
        signature = _by_loops(method, runs, samples, chosen, direction, kappa)
    recorded: Recorded = "program" if log is None else "server"
    signature = signature or extract_signature(
        samples, recorded=recorded, method=method or "iosi", level=level, gamma=gamma, kappa=kappa
    )
    what = f"{log or chosen} {direction}"
    written = _write(signature, what, out, picture) if out or picture else []
    if request.as_json:
        from ...export.json.runs import signature_document

        cli.print_json(signature_document(signature, chosen, direction, left_out, written, scaling))
    else:
        from ...export.runs.signature_text import print_signature

        print_signature(signature, what, left_out, scaling, cli.console())
        cli.print_files(written)


_OF_TRACES: Final = ("layer", "window", "files", "engine", "calls", "workers", "dask")


_OF_FINDING: Final = (
    "layer", "direction", "interval", "log", "jobs", "method", "level", "gamma", "kappa", "partial", "out", "picture",
)  # fmt: skip


def _compare(traces: tuple[Path, ...], request: cli.Request, known: Path) -> None:
    """Tell of each run whether it is a usual one."""
    from ...analysis.known_signature import read_signature
    from ...layers.selection.directions import direction_named
    from ...runs.signatures.known import compared

    usual = read_signature(known)
    runs, layer = _read_runs(traces, request, usual.layer, direction_named(usual.direction))
    found = [compared(usual, run.name, run.signals[layer]) for run in runs]
    if request.as_json:
        from ...export.json.runs import likeness_document

        cli.print_json(likeness_document(found, known, layer, usual.direction))
    else:
        from ...export.runs.signature_text import print_likeness

        print_likeness(found, f"{layer} {usual.direction}", cli.console())


def _method(method: str | None, log: Path | None) -> str | None:
    """Return the method, None for loops where there are some; options that would change nothing are wrong usage."""
    if method is None and cli.is_given("level"):
        # Loops have no wavelets.
        method = "iosi"
    if log is None:
        if method != "plain":
            cli.refuse_given(
                "is for --log and --method plain: the bursts of traces are matched in their order", "gamma"
            )
    else:
        cli.refuse_given("is for traces, not for a log", *_OF_TRACES)
        if log.suffix.lower() == ".csv":
            cli.refuse_given("is for HDF5: a log as CSV does not tell reads from writes", "direction")
    if method == "loops":
        cli.refuse_given("is not for loops, which have no wavelets", "level")
    if method == "dtw":
        cli.refuse_given("is not for --method dtw, which warps all runs into one", "gamma", "kappa")
    return method


def _by_loops(
    method: str | None, runs: list["RunSignals"], samples: list["Sample"], layer: str, direction: str, kappa: float
) -> "Signature | None":
    """Return the signature by the loops that runs share; None without such, or where another method was chosen."""
    if method not in (None, "loops"):
        return None
    from ...model.errors import SelectionError
    from ...runs.signatures.loops import loops_signature
    from ...runs.signatures.sample import checked_samples

    checked_samples(tuple(samples))
    found = loops_signature(runs, samples, layer, direction, kappa)
    if found is None and method == "loops":
        raise SelectionError(f"the runs share no loop that moves bytes in {layer}; take another --method")
    return found


def _write(signature: "Signature", what: str, out: Path | None, picture: Path | None) -> "list[Written]":
    """Write the files that were asked for."""
    from ...export.runs.signature_files import write_signature, write_signature_figure

    return cli.write_all(
        (out, lambda path: write_signature(signature, path, what)),
        (picture, lambda path: write_signature_figure(signature, path, what)),
    )


def _read_runs(
    paths: tuple[Path, ...], request: cli.Request, layer: str | None, direction: "Direction"
) -> tuple[list["RunSignals"], str]:
    """Return each trace or run of a collection, and the layer to look at."""
    from ...model.errors import MissingLibraryError, TraceError
    from ...runs.collection.chosen import chosen_runs
    from ...runs.collection.content import trace_name
    from ...runs.collection.read import job_key
    from ...runs.signatures.traces import collection_signals, common_layer, named_apart, run_signals

    runs = chosen_runs(paths)
    found: list[RunSignals] = []
    failed: list[str] = []
    told: set[Path] = set()
    cli.refuse_for_tables([one.path for one in runs.collections], bool(runs.traces))
    for collection in runs.collections:
        failed += [f"{job.job}: {job.reason}" for job in collection.jobs if not job.usable]
        found += collection_signals(collection, direction)
    for trace in runs.traces:
        try:
            opened = replace(request, trace=trace).open(told=told)
        except (TraceError, MissingLibraryError, OSError) as error:
            failed.append(str(error))
            continue
        found.append(run_signals(opened, job_key(trace), trace_name(trace), direction))
    found = named_apart(found)
    busy = [run for run in found if run.signals]
    if busy:
        what = "" if direction == "total" else f" {direction}"
        failed += [f"{run.name}: no{what} bytes moved" for run in found if not run.signals]
        found = busy
    cli.warn_of_left_out(failed, found)
    return found, common_layer(found, layer)


def _from_log(
    log: Path, jobs: Path, direction: str, interval: float | None
) -> tuple[list["Sample"], tuple["SampleUse", ...]]:
    """Return a sample of each job, and the jobs of which there is none."""
    from ...model.errors import SelectionError
    from ...model.quantities import counted
    from ...runs.signatures.server_logs import job_samples, read_jobs, read_log
    from ...runs.signatures.signature import SampleUse

    known = read_log(log, direction)
    if known.missing:
        cli.warn(f"{counted(known.missing, 'value')} of {len(known.values):,} missing, interpolated")
    samples, rest = job_samples(known, read_jobs(jobs), interval)
    if rest and len(samples) < 2:
        name, reason, some = rest[0][0].name, rest[0][1], "only one" if samples else "none"
        raise SelectionError(f"{some} of the jobs can be cut out of the log: {name}: {reason}")
    return samples, tuple(SampleUse(job.name, False, reason, job.end - job.start, 0.0, None, 0) for job, reason in rest)
