"""What a command is asked for, and how it gets its trace: with progress while it is read, and warnings."""

import functools
import inspect
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from ..analysis.registry import DEFAULT_METHOD
from ..model.errors import IostrataError, OutputError, TraceError
from ..model.plugins import docstring
from ..model.quantities import bytes_text, counted
from ..model.text import printable
from .options import FORMAT, JSON_HELP, QUIET, READING, TRACE, Frequency, Option, OutputPath, Seconds
from .progress import Progress, is_quiet

if TYPE_CHECKING:
    from rich.console import Console

    from ..export.written import Written
    from ..layers.selection.directions import Direction, Traffic
    from ..layers.trace import Trace
    from ..model.document import Document
    from ..model.stream.source import Source


@dataclass(frozen=True)
class Request:
    """What the shared options of `iostrata.cli.options` say; options that a command does not have keep the default."""

    trace: Path
    layers: tuple[str, ...] = ()
    direction: "Direction | None" = None
    traffic: "Traffic" = "all"
    method: str = DEFAULT_METHOD
    fs: Frequency = "auto"
    filter: str | None = None
    window: Seconds | None = None
    files: str = "application"
    engine: str = "auto"
    calls: str = "auto"
    workers: int | None = None
    memory: int | None = None
    dask: str | None = None
    as_json: bool = False

    @property
    def directions(self) -> "tuple[Direction, ...]":
        """The direction asked for, or read and write, each by itself."""
        return ("read", "write") if self.direction is None else (self.direction,)

    def named(self, *names: str) -> dict[str, Any]:
        """Return some of the options by their names, as functions take them."""
        return {name: getattr(self, name) for name in names}

    def open(
        self,
        handle_bytes: int = 850,
        relations: bool = False,
        parts: tuple[str, int] | None = None,
        told: set[Path] | None = None,
    ) -> "Trace":
        """Open the trace; warn on stderr where it is damaged or hardly anything of it counts.

        Raises TraceError, SelectionError as `open_trace`.

        Parameters
        ----------
        handle_bytes : int
            Memory that the command itself takes for each handle, besides ``--memory``.
        relations : bool
            Whether the layers will be compared.
        parts : (str, int), optional
            By which key layers will be split, and how many parts of each in a direction will have signals.
        told : set of Path, optional
            Traces of a command on several runs that were warned of: warnings name the trace, and come once.
        """
        from ..layers.opening import Purpose, open_trace
        from ..model.budget import keep_freed_memory

        with Progress("reading events") as progress, _telling_of_compiling(progress), telling_of_several(self.trace):
            read = self.named("memory", "engine", "calls", "workers", "files", "window")
            fs, purpose = "auto" if self.memory is None else self.fs, Purpose(handle_bytes, relations, parts)
            trace = open_trace(self.trace, **read, fs=fs, client=self.dask, progress=progress, purpose=purpose)
        if self.memory is None:
            # Not before: columns that grow are moved by the system without a copy as long as it is asked for them.
            keep_freed_memory()
        if told is None or self.trace not in told:
            _warn(trace, "" if told is None else f"{self.trace}: ")
        if told is not None:
            told.add(self.trace)
        if self.memory is not None:
            _tell_what_is_read_whole(trace)
        return trace


@contextmanager
def telling_of_several(path: Path) -> Iterator[None]:
    """Say what takes several runs where these are at `path` in place of a trace."""
    try:
        yield
    except TraceError:
        from ..runs.collection.content import traces_below
        from ..runs.collection.tables import is_collection

        if is_collection(path):
            raise TraceError(f"{path} is a collection of runs, which report, diff, signature and assess take") from None
        below = traces_below(path)
        if len(below) == 1 and below[0].parent != path:
            raise TraceError(f"{path} is no trace, but holds one: give {below[0]}") from None
        if len(below) > 1:
            raise TraceError(several_text(path)) from None
        raise


def several_text(folder: Path) -> str:
    """Return what to do with a folder of traces."""
    return (
        f"{folder} holds several traces: name one, or make a page of all by 'iostrata collect "
        f"{shlex.quote(str(folder))} -o runs' and 'iostrata report runs -o runs.html'"
    )


class Command(click.Command):
    """A command that writes over nothing it reads, nor twice into one file, with the user's own defaults."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return a context whose defaults are those of `iostrata.cli.defaults`."""
        from .defaults import defaults_for

        # Help and completion work whatever stands there.
        if not extra.get("resilient_parsing") and not {"-h", "--help"} & set(args):
            extra["default_map"] = defaults_for(info_name or "", self)
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; OutputError where an output is one of its inputs, by whatever name or link."""
        writing = [one.name for one in self.params if one.name and isinstance(one.type, OutputPath)]
        outputs = [ctx.params[name] for name in writing if ctx.params[name] is not None]
        for number, out in enumerate(outputs):
            if os.path.realpath(out) in map(os.path.realpath, outputs[:number]):
                raise OutputError(f"cannot write {str(out)!r}: it is the other output; choose another name")
            for name, value in ctx.params.items():
                for given in value if isinstance(value, tuple) else (value,):
                    if name not in writing and isinstance(given, Path) and _same_file(given, out):
                        raise OutputError(f"cannot write {str(out)!r}: it is what is read; choose another name")
        return super().invoke(ctx)


def _same_file(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except (OSError, ValueError):
        return False


def prepare_picture(path: Path | None) -> None:
    """Import what draws a picture, if there is to be one, before any work is done.

    Raises MissingLibraryError where it is not installed.
    """
    if path is None:
        return
    import logging

    from ..export.figure import check_figure_library

    # It tells on stderr that there is no home folder, or that this is its first time.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    check_figure_library(path)


def command_of(
    example: str, *options: Option, kind: type[Command] = Command, as_json: str | None = JSON_HELP
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command with options in the order of ``--help``, and ``--json`` behind them.

    Parameters
    ----------
    example : str
        What follows ``iostrata`` in an example.
    kind : type
        For a command that adds something to its help.
    as_json : str or None
        The help of ``--json``; None for a command that prints JSON anyway and has no such option.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        decorated: Callable[..., Any] = function
        json = () if as_json is None else (click.option("--json", "as_json", is_flag=True, help=as_json),)
        if as_json == JSON_HELP:
            decorated = _formatted(decorated)
        for option in reversed((*options, *json, *((FORMAT,) if as_json == JSON_HELP else ()), QUIET)):
            decorated = option(decorated)
        return click.command(cls=kind, help=help_of(function), epilog=f"Example: iostrata {example}")(decorated)

    return decorate


def _formatted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that knows ``--json`` alone know ``--format``."""

    @functools.wraps(function)
    def invoke(*, format: str, as_json: bool, **given: Any) -> None:
        if as_json and format.startswith("csv"):
            raise click.UsageError("--json and --format csv are two formats: choose one")
        function(as_json=as_json or format != "text", **given)

    return invoke


def help_of(function: Callable[..., None]) -> str:
    """Return the help of a command: the line with which its module begins, and the docstring of its function."""
    return f"{docstring(sys.modules[function.__module__])}\n\n{docstring(inspect.unwrap(function))}"


def trace_command(
    example: str, *options: Option, kind: type[Command] = Command
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command on one trace: it is called with a `Request`, and by name with all that is not in one.

    Parameters and order are those of `command_of`; TRACE comes first.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def invoke(**given: Any) -> None:
            request = _request(given.pop("trace"), given, [field.name for field in fields(Request)])
            if request.as_json:
                refuse_given("is for what is printed on a screen, and --json has all", "brief", "iterations")
            function(request, **given)

        return command_of(example, TRACE, *options, kind=kind)(invoke)

    return decorate


_READING: Final = ("window", "files", "engine", "calls", "workers", "dask", "as_json")
"""Options of `READING`, and ``--json``; a command on several runs may have others that a request names too."""


def runs_command(example: str, runs: Option, *options: Option) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command on the traces of several runs, the argument ``traces`` of `runs`.

    It is called with their paths, with a `Request` for the first of them, and by name with all that is not in one.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def invoke(**given: Any) -> None:
            traces: tuple[Path, ...] = given.pop("traces")
            request = _request(traces[0] if traces else Path(), given, _READING)
            function(traces, request, **given)

        return command_of(example, runs, *options, *READING)(invoke)

    return decorate


def _request(trace: Path, given: dict[str, Any], names: Iterable[str]) -> Request:
    """Take what belongs to a request out of the values of options."""
    return Request(trace, **{name: given.pop(name) for name in names if name in given})


def refuse(wrong: Mapping[str, bool]) -> None:
    """Raise click.UsageError with the first sentence that holds."""
    for sentence, holds in wrong.items():
        if holds:
            raise click.UsageError(sentence)


@contextmanager
def as_wrong_usage(kind: type[IostrataError]) -> Iterator[None]:
    """Let errors of a `kind` be wrong usage: they are about the value of an option."""
    try:
        yield
    except kind as error:
        raise click.UsageError(str(error)) from None


def warn(text: str, kind: str = "warning") -> None:
    """Say on stderr what a user should know, unless asked not to; names in `text` may be of any characters."""
    if is_quiet():
        return
    click.echo(f"iostrata: {kind}: {printable(text)}", err=True)


def warn_of_left_out(reasons: Sequence[str], used: Sequence[object]) -> None:
    """Warn of inputs that cannot be used; TraceError where there is none that can."""
    if reasons and not used:
        raise TraceError(reasons[0])
    for reason in reasons:
        warn(f"left out: {reason}")


def write_all(*outputs: "tuple[Path | None, Callable[[Path], Written]]") -> "list[Written]":
    """Write the files that have a name, which appear all together or not at all."""
    from ..export.atomic import written_together

    with written_together():
        return [write(path) for path, write in outputs if path is not None]


def print_files(written: "Iterable[Written]") -> None:
    """Print what was written where, a line a file."""
    from ..export.terminal.console import written_lines

    for one in written:
        console().print(written_lines(one))


def is_given(name: str) -> bool:
    """Tell whether an option of the current command was given, and is not the default."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse_given(reason: str, *names: str) -> None:
    """Refuse options that would change nothing.

    Raises click.UsageError with the reason if one of the options, by the names of their values, was given.
    """
    options = {one.name: one.opts[0] for one in click.get_current_context().command.params}
    for name in names:
        if is_given(name):
            raise click.UsageError(f"{options[name]} {reason}")


def refuse_frequency(request: Request, sampled: bool = False) -> None:
    """Refuse ``--fs`` where the method looks at exact signals, and nothing else is `sampled`."""
    if request.method == DEFAULT_METHOD and request.memory is None and not sampled:
        refuse_given(f"changes nothing: the method {DEFAULT_METHOD} looks at exact signals; choose another", "fs")


_OF_EACH: Final = ("window", "files", "calls", "method")
_OF_READING: Final = ("engine", "workers", "dask", "memory")


def refuse_for_tables(tables: Sequence[Path], traces: bool = False) -> None:
    """Refuse options of reading where there are tables, which were read already, with others maybe.

    Those that only say how to read are refused where there are no `traces` beside them. Raises click.UsageError.
    """
    if tables:
        reason = f"is for traces, and {printable(str(tables[0]))} was read already"
        refuse_given(f"{reason}; give it to iostrata collect", *_OF_EACH)
        if not traces:
            refuse_given(reason, *_OF_READING)


_OF_PRINTING: Final = ("as_json", "format")


def print_json(document: "Document") -> None:
    """Print `document` on stdout, with what it was made by and of behind the number of its schema; or a list of it."""
    from ..export.json.csv_table import csv_pieces
    from ..export.json.documents import json_pieces
    from ..export.json.provenance import with_provenance

    context = click.get_current_context()
    kinds = {one.name: one.type for one in context.command.params}
    options = {name: value for name, value in context.params.items() if name not in _OF_PRINTING}
    kind, _, table = str(context.params.get("format", "")).partition(":")
    read = [name for name in options if not isinstance(kinds[name], OutputPath) and name not in ("out", "folder")]
    values = [options[name] if isinstance(options[name], tuple) else (options[name],) for name in read]
    inputs = [one for value in values for one in value if isinstance(one, Path)]
    if kind == "csv":
        for line in csv_pieces(document, context.info_name or "", table):
            click.echo(line, nl=False)
        return
    for piece in json_pieces(with_provenance(document, context.obj or (), options, inputs)):
        click.echo(piece, nl=False)
    click.echo()


def print_written(trace: "Trace", written: "Written", as_json: bool) -> None:
    """Print what was written where, as JSON or as a line."""
    if as_json:
        from ..layers.document import document

        print_json(document(trace, output=written.to_dict()))
    else:
        print_files([written])


def print_counters(source: "Source", request: Request) -> None:
    """Show the counters of a recording without times."""
    if request.as_json:
        from ..export.json.documents import counted_document

        print_json(counted_document(source, request.layers, request.directions))
    else:
        from ..export.terminal.layers import print_counted

        print_counted(source, request.layers, request.directions, console())


def console() -> "Console":
    """Return the console on stdout."""
    from ..export.terminal.console import stdout_console

    return stdout_console()


@contextmanager
def _telling_of_compiling(progress: Progress) -> Iterator[None]:
    """Let `progress` say when loops are compiled; where there is no compiler for them, there is nothing to say."""
    try:
        from ..model.kernels import on_compiling
    except ImportError:
        yield
        return
    end = on_compiling(progress.compiling)
    try:
        yield
    finally:
        end()


def _tell_what_is_read_whole(trace: "Trace") -> None:
    """Say on stderr that the bound of memory is not one of what another recorder's files take while they are read."""
    from ..otf2io.archive import ENGINES

    reading, engine = trace.stream.known_reading, trace.stream.engine
    if reading is not None and engine not in ENGINES:
        whose = "a table" if engine == "Table" else f"{engine}'s file"
        held = bytes_text(reading.source.held)
        warn(f"{whose} is read whole: {held} of operations, and --memory bounds what is made of them", "note")


def _warn(trace: "Trace", name: str = "") -> None:
    """Warn of damage, and where the selection leaves nothing although the trace has operations; `name` leads."""
    texts = []
    if trace.damage.damaged:
        from ..export.terminal.console import damage_summary

        first = trace.damage.locations[0]
        texts.append(f"{damage_summary(trace.damage)} ({first.place}: {first.reason})")
    if trace.damage.cuts:
        texts.append(
            f"{counted(trace.damage.cuts, 'cut')} through processes that never came to rest: some operations may not "
            "be found to belong to a call; give more memory"
        )
    if trace.damage.given_up:
        texts.append(
            f"{counted(trace.damage.given_up, 'operation')} given up as never completed: more were in flight than fit "
            "into the memory"
        )
    if not trace.begins_with_what_counts():
        texts += _nothing_shown(trace)
    for text in texts:
        warn(name + text)


def _nothing_shown(trace: "Trace") -> list[str]:
    """Say that all operations are on files set aside, if so it is."""
    aside = trace.set_aside
    shown = any(layer.directions or layer.flushes for layer in trace.layers.values())
    if not aside.operations or shown or len(trace.sums.handles.kinds):
        return []
    what = f"{counted(aside.operations, 'operation')} ({bytes_text(aside.bytes)})"
    remedy = "--files all counts them" if trace.files == "application" else "choose other files"
    return [f"nothing to show: all {what} are on files set aside; {remedy}"]
