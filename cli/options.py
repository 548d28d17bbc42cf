"""Arguments and options that several commands share, each a decorator: what they mean is written once, here."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

import click

from ..analysis.registry import DEFAULT_METHOD, methods
from .progress import QUIETLY

Option = Callable[[Callable[..., Any]], Callable[..., Any]]
Frequency = float | Literal["auto"]
Seconds = tuple[float | None, float | None]


# What an option's callback cannot parse it refuses with `click.BadParameter`.


def parse_frequency(_context: click.Context, _option: click.Parameter, text: str) -> Frequency:
    """Return the frequency in Hz that `text` gives, or ``"auto"``."""
    if text == "auto":
        return "auto"
    number = _number(text)
    if number is None or not 0 < number < math.inf:
        raise click.BadParameter(f"{text!r} is neither a frequency above 0 Hz nor 'auto'")
    return number


def parse_window(_context: click.Context, _option: click.Parameter, text: str | None) -> Seconds | None:
    """Return (start, end) in s from ``START:END``, None on a side that was left out; None without a window."""
    if text is None:
        return None
    sides = text.split(":")
    if len(sides) != 2:
        raise click.BadParameter(f"{text!r} is not START:END in seconds, such as 10:60, 10: or :60")
    start, end = map(_time, sides)
    if start is not None and end is not None and start >= end:
        raise click.BadParameter(f"{text!r} does not end after its start")
    return start, end


def parse_filter(_context: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """Return `text` where it is a filter."""
    if text is None:
        return None
    from ..analysis.timefrequency.filters import Butterworth
    from ..model.errors import SelectionError

    try:
        return str(Butterworth.parse(text))
    except SelectionError as error:
        raise click.BadParameter(str(error)) from None


def _time(text: str) -> float | None:
    if not text.strip():
        return None
    number = _number(text)
    if number is None or not math.isfinite(number):
        raise click.BadParameter(f"{text!r} is not a time in seconds")
    return number


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def parse_memory(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """Return the bytes that `text` gives, such as ``500M`` or ``2GiB``; None without one."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*(?:([kmgt])(i?))?b?\s*", text, re.IGNORECASE | re.ASCII)
    if found is None:
        raise click.BadParameter(f"{text!r} is not a size in bytes, such as 500M, 2G or 1.5GiB")
    number, prefix, binary = found.groups()
    size = int(Fraction(number) * (1024 if binary else 1000) ** " kmgt".index((prefix or " ").lower()))
    if size < 1:
        raise click.BadParameter(f"{text!r} is no memory at all")
    return size


POSITIVE: Final = click.FloatRange(min=0, min_open=True)
_PATHS: Final = ("FILE", "FOLDER", "TRACE")


def option(declared: str, help: str, name: str | None = None, **how: Any) -> Option:
    """Return an option that is declared as the help shows it: ``--segment S``, or ``--train`` where it takes no value.

    Parameters
    ----------
    declared : str
        A value that begins with FILE, FOLDER or TRACE is a path.
    name : str, optional
        Of the parameter, where the option has another.
    **how
        As for `click.option`; `choices` are the only values.
    """
    flags = [word for word in declared.split() if word.startswith("-")]
    metavar = "".join(word for word in declared.split() if not word.startswith("-"))
    if "choices" in how:
        how["type"] = click.Choice(how.pop("choices"))
    elif metavar.startswith(_PATHS):
        how.setdefault("type", click.Path(path_type=Path))
    if metavar:
        how["metavar"] = metavar
    elif "type" not in how:
        how["is_flag"] = True
    return click.option(*flags, *([name] if name else []), help=help, **how)


BROKEN: Final = 3
"""Exit code where a rule of ``--fail-on`` is broken."""

TRACE: Final[Option] = click.argument("trace", type=click.Path(path_type=Path))
"""Whether it is there is for the reader to find out (exit code 1, not 2)."""

JSON_HELP: Final = "Print one JSON document and nothing else on stdout."


def note_quiet(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Keep for all that says something on stderr that nobody wants to know."""
    context.meta[QUIETLY] = wanted


QUIET: Final[Option] = option(
    "-q --quiet",
    "Say nothing on stderr but what went wrong: no progress, notes or warnings.",
    is_eager=True,
    expose_value=False,
    callback=note_quiet,
)


def parse_format(context: click.Context, _option: click.Parameter, text: str) -> str:
    """Return a format, of CSV maybe with the table that is printed."""
    from ..export.json.csv_table import MAIN

    kind, _, table = text.partition(":")
    if kind not in ("text", "json", "csv") or (table and kind != "csv"):
        raise click.BadParameter(f"{text!r} is none of text, json, csv and csv:TABLE")
    if kind == "csv" and context.info_name not in MAIN:
        raise click.BadParameter(f"{context.info_name} prints no table")
    return text


FORMAT: Final[Option] = option(
    "--format text|json|csv[:TABLE]",
    "json: as --json. csv: a list of that document as rows, its main one or that of a name, such as findings.",
    callback=parse_format,
    default="text",
)

BRIEF: Final[Option] = option("--brief", "Print only what one screen of a terminal holds.")


def _known_layers(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    """Return the layers that recorders know, in the case in which they are written, for a shell to complete."""
    known = ("netCDF", "PnetCDF", "HDF5", "ADIOS", "MPI-IO", "ISOC", "POSIX")
    return [name for name in known if name.lower().startswith(incomplete.lower())]


LAYERS: Final[Option] = option(
    "--layer NAME",
    "Only this layer, by its identification: netCDF, HDF5, MPI-IO, ISOC (or STDIO), POSIX, … Repeatable.",
    "layers",
    multiple=True,
    shell_complete=_known_layers,
)

DIRECTION: Final[Option] = option(
    "--direction",
    "Direction of the transfers.  [default: read and write, each by itself]",
    choices=["read", "write", "total"],
)

RANKS: Final[Option] = option(
    "--rank N",
    "Only this rank of the split by rank, which it stands for. Repeatable.",
    "ranks",
    type=click.IntRange(min=0),
    multiple=True,
)


def by_rank(by: str | None, ranks: tuple[int, ...]) -> str | None:
    """Return the key of ``--by``, which ``--rank`` stands for; click.UsageError where there is another."""
    if ranks and by not in (None, "rank"):
        raise click.UsageError(f"--rank is one of the parts of --by rank, not of --by {by}")
    return "rank" if ranks else by


TRAFFIC: Final[Option] = option(
    "--traffic",
    "All transfers of a layer, only those that the program itself called, or only those that a higher layer caused.",
    choices=["all", "own", "inherited"],
    default="all",
)

METHOD: Final[Option] = option("--method", "How periods are detected.", choices=methods(), default=DEFAULT_METHOD)

FREQUENCY: Final[Option] = option(
    "--fs HZ|auto",
    "Sampling frequency in Hz (bins per second); auto follows the signal, with at most 2^17 bins.",
    callback=parse_frequency,
    default="auto",
)

TUNING: Final[tuple[Option, ...]] = (
    option(
        "--false-alarm-rate SHARE",
        "Share of signals without a period that may be called periodic, above 0, up to 0.5; methods auto and "
        "hybrid.  [default: 0.01]",
        type=float,
    ),
    option(
        "--tolerance SHARE",
        "Share of the highest z-score from which on a frequency is a candidate, above 0, up to 1; methods ftio… "
        "and hybrid.  [default: 0.8]",
        type=float,
    ),
    option(
        "--skip-first-phase",
        "Leave out the first phase, which often holds what happens once; methods ftio… and autocorrelation.",
        default=None,
    ),
    option("--wavelet NAME", "Wavelet of the method hybrid, such as db1 or haar.  [default: db1]"),
    option("--level N", "Level of decomposition of the method hybrid, from 1 on.  [default: the best]", type=int),
)
"""Options of the methods by the names that `detect_period` has for them."""

ORDER: Final[Option] = option(
    "--order N",
    "With --filter: order of the filter, which is put forwards and backwards.  [default: 4]",
    type=click.IntRange(1, 12),
)

FILTER: Final[Option] = option(
    "--filter low:HZ|high:HZ|band:HZ:HZ",
    "Look for periods in the signal after a Butterworth filter. Variation of I/O is no noise: this is to look "
    "at one range of frequencies, and period and phases are those of the filtered signal. Volumes are "
    "what was moved.",
    callback=parse_filter,
)

WINDOW: Final[Option] = option(
    "--window START:END",
    "Part of the trace, in seconds from its start; either side may be left out. An operation across the edge "
    "counts in proportion.",
    callback=parse_window,
)

FILES: Final[Option] = option(
    "--files application|all|GLOB",
    "Files that count: those of the application (no files of the system, MPI or Python itself, "
    "pipes, standard streams), all, or those whose full name matches a pattern such as '/scratch/*.nc' or '*out.nc'.",
    default="application",
)

ENGINE: Final[Option] = option(
    "--engine",
    "What decodes the events: compiled kernels on the files themselves, or the OTF2 library.",
    choices=["auto", "direct", "library"],
    default="auto",
)

WORKERS: Final[Option] = option(
    "--workers N",
    "Number of threads that read.  [default: one per processor; 1 with the OTF2 library]",
    type=click.IntRange(min=1),
)

DASK: Final[Option] = option(
    "--dask ADDRESS",
    "Scheduler of a running Dask cluster, such as tcp://node1:8786, whose workers read instead of threads here.",
)

CALLS: Final[Option] = option(
    "--calls",
    "Whether calls of netCDF, HDF5, PnetCDF, … that an OTF2 archive has as regions, without I/O records of that "
    "library, become operations, handles and a layer; all: of libraries with I/O records calls without one, too.",
    choices=["auto", "all", "off"],
    default="auto",
)

READING: Final[tuple[Option, ...]] = (WINDOW, FILES, ENGINE, CALLS, WORKERS, DASK)
"""Options of every command that reads events."""

MEMORY: Final[Option] = option(
    "--memory SIZE",
    "Most memory in bytes, such as 500M (k, M, G, T are powers of 1000; Ki, Mi, … of 1024). Operations are "
    "then summed up while they are read, into bins of time and statistics, and not kept: for traces of any size. "
    "Periods are as fine as these bins.",
    callback=parse_memory,
)

PROCESSES: Final[Option] = option(
    "--workers N",
    "Number of processes that read, each a trace.  [default: one per processor]",
    type=click.IntRange(min=1),
)

MEMORY_OF_EACH: Final[Option] = option(
    "--memory SIZE",
    "Most memory in bytes for the operations of a trace; one that would take more is summed up in bins of time "
    "while it is read.",
    callback=parse_memory,
    default="2G",
)

SETTINGS: Final[tuple[Option, ...]] = (METHOD, WINDOW, FILES, ENGINE, CALLS, PROCESSES, MEMORY_OF_EACH, DASK)
"""Options of every command that reads many traces into rows."""


class OutputPath(click.Path):
    """A file that a command writes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; the empty one would be the current folder."""
        if value == "":
            self.fail("the name of the file is empty", param, ctx)
        return super().convert(value, param, ctx)


_SPELLINGS: Final = {".html": (".html", ".htm"), ".h5": (".h5", ".nc")}
"""Other suffixes that stand for the same kind of file."""


def output_argument(known: tuple[str, ...]) -> Option:
    """Return the argument OUT for a file whose suffix is one of `known`."""
    return click.argument("out", type=OutputPath(path_type=Path), callback=_with_suffix_of(known))


def output_option(metavar: str, help: str, flags: str = "-o --output", name: str = "out") -> Option:
    """Return an option for a file with a suffix of `metavar`, as ``OUT.html|.h5``."""
    known = [one for suffix in re.findall(r"\.\w+", metavar) for one in _SPELLINGS.get(suffix, (suffix,))]
    kind, check = OutputPath(path_type=Path), _with_suffix_of(tuple(known))
    return option(f"{flags} {metavar}", help, name, type=kind, callback=check)


def picture_option(help: str) -> Option:
    """Return the option ``--plot`` for a picture that matplotlib draws."""
    return output_option("FILE.png|.svg|.pdf", help, "--plot", "picture")


def _with_suffix_of(known: tuple[str, ...]) -> Callable[[click.Context, click.Parameter, Path | None], Path | None]:
    def parse(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
        if path is not None and not path.name.lower().endswith(known):
            if path.is_dir():
                raise click.BadParameter(f"{str(path)!r} is a folder; give the name of a file in it")
            raise click.BadParameter(f"{str(path)!r} ends in none of the known suffixes: {', '.join(known)}")
        return path

    return parse
