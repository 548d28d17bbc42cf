"""Arguments and options that several commands share, each a decorator; what they mean is told once, here."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from ..analysis.registry import DEFAULT_METHOD, methods

Command = TypeVar("Command", bound=Callable[..., Any])
Frequency = float | Literal["auto"]
Seconds = tuple[float | None, float | None]


def parse_frequency(_context: click.Context, _option: click.Parameter, text: str) -> Frequency:
    """Return the frequency in Hz that `text` gives, or ``"auto"``.

    Raises
    ------
    click.BadParameter
        If it is neither ``auto`` nor a finite number above 0.
    """
    if text == "auto":
        return "auto"
    number = _number(text)
    if number is None or not 0 < number < math.inf:
        raise click.BadParameter(f"{text!r} is neither a frequency above 0 Hz nor 'auto'")
    return number


def parse_window(_context: click.Context, _option: click.Parameter, text: str | None) -> Seconds | None:
    """Return (start, end) in s from ``START:END``, None on a side that was left out; None without a window.

    Raises
    ------
    click.BadParameter
        If it is not of this form, or ends before it starts.
    """
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
    """Return `text` where it is a filter.

    Raises
    ------
    click.BadParameter
        If it is not of the form that `iostrata.analysis.timefrequency.filters.Butterworth.parse` reads.
    """
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


def trace_argument(command: Command) -> Command:
    """Take TRACE; whether it is there is for the reader to find out (exit code 1, not 2)."""
    return click.argument("trace", type=click.Path(path_type=Path))(command)


def json_option(command: Command) -> Command:
    """Offer ``--json``."""
    text = "Print one JSON document and nothing else on stdout."
    return click.option("--json", "as_json", is_flag=True, help=text)(command)


def layer_option(command: Command) -> Command:
    """Offer ``--layer``, repeatable."""
    text = "Only this layer, by its identification: netCDF, HDF5, MPI-IO, ISOC, POSIX, … Repeatable."
    return click.option("--layer", "layers", metavar="NAME", multiple=True, help=text)(command)


def direction_option(command: Command) -> Command:
    """Offer ``--direction``; None stands for read and write, each by itself."""
    text = "Direction of the transfers.  [default: read and write, each by itself]"
    return click.option("--direction", type=click.Choice(["read", "write", "total"]), help=text)(command)


def traffic_option(command: Command) -> Command:
    """Offer ``--traffic``."""
    return click.option(
        "--traffic",
        type=click.Choice(["all", "own", "inherited"]),
        default="all",
        show_default=True,
        help="All transfers of a layer, only those that the program itself called, or only those that a higher layer "
        "caused.",
    )(command)


def frequency_option(command: Command) -> Command:
    """Offer ``--fs``."""
    return click.option(
        "--fs",
        metavar="HZ|auto",
        callback=parse_frequency,
        default="auto",
        show_default=True,
        help="Sampling frequency in Hz (bins per second); auto follows the signal, with at most 2^17 bins.",
    )(command)


def window_option(command: Command) -> Command:
    """Offer ``--window``."""
    return click.option(
        "--window",
        metavar="START:END",
        callback=parse_window,
        help="Part of the trace, in seconds from its start; either side may be left out. An operation across the edge "
        "counts in proportion.",
    )(command)


def files_option(command: Command) -> Command:
    """Offer ``--files``."""
    return click.option(
        "--files",
        metavar="application|all|GLOB",
        default="application",
        show_default=True,
        help="Files that count: those of the application (no system files, files of the MPI library, pipes, "
        "standard streams), all, or those whose full name matches a pattern such as '/scratch/*.nc' or '*out.nc'.",
    )(command)


def method_option(command: Command) -> Command:
    """Offer ``--method``."""
    text = "How periods are detected."
    choice = click.Choice(methods())
    return click.option("--method", type=choice, default=DEFAULT_METHOD, show_default=True, help=text)(command)


def filter_option(command: Command) -> Command:
    """Offer ``--filter``."""
    return click.option(
        "--filter",
        metavar="low:HZ|high:HZ|band:HZ:HZ",
        callback=parse_filter,
        help="Look for periods in the signal after a Butterworth filter. Variation of I/O is no noise: this is to look "
        "at one range of frequencies, and period and phases are those of the filtered signal. Volumes are "
        "what was moved.",
    )(command)


def parse_memory(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """Return the bytes that `text` gives, such as ``500M`` or ``2GiB``; None without one.

    Raises
    ------
    click.BadParameter
        If it is not of this form.
    """
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


def memory_option(command: Command) -> Command:
    """Offer ``--memory``."""
    return click.option(
        "--memory",
        metavar="SIZE",
        callback=parse_memory,
        help="Most memory in bytes, such as 500M (k, M, G, T are powers of 1000; Ki, Mi, … of 1024). Operations are "
        "then summed up while they are read, into bins of time and statistics, and not kept: for traces of any size. "
        "Periods are as fine as these bins, and layers are not compared.",
    )(command)


def reading_options(command: Command) -> Command:
    """Offer ``--engine`` and ``--workers``, for commands that read events."""
    engine = click.option(
        "--engine",
        type=click.Choice(["auto", "direct", "library"]),
        default="auto",
        show_default=True,
        help="What decodes the events: compiled kernels on the files themselves, or the OTF2 library.",
    )
    workers = click.option(
        "--workers",
        metavar="N",
        type=click.IntRange(min=1),
        help="Number of threads that read.  [default: one per processor; 1 with the OTF2 library]",
    )
    return engine(workers(command))
