"""Write files for other tools: HDF5, Parquet, OTF2, timelines, FTIO."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ...export.exporters import EXPORTERS, OPTIONS, OptionError, known_suffixes, suffix_of
from ...model.text import printable
from ..options import DIRECTION, FILTER, FREQUENCY, LAYERS, MEMORY, METHOD, READING, TRAFFIC, option, output_argument
from ..request import Command, Request, as_wrong_usage, print_written, trace_command, warn

OUT = output_argument(known_suffixes())


class Convert(Command):
    """The command, with what each kind of file holds in its help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the kinds of files, then the options."""
        with formatter.section("Files"):
            formatter.write_dl([(f".{name}", summary) for name, summary in EXPORTERS.summaries.items()])
        super().format_options(ctx, formatter)


REWRITE = option("--rewrite", "Write .otf2 anew from the operations of an OTF2 archive instead of copying it.")


_SHARED = (LAYERS, DIRECTION, TRAFFIC, METHOD, FREQUENCY, FILTER, *READING, MEMORY)


@trace_command("convert traces.otf2 layers.h5 --fs 10", OUT, REWRITE, *_SHARED, kind=Convert)
def command(request: Request, out: Path, rewrite: bool) -> None:
    """The suffix of OUT decides what it is, as listed below. A file that is there already is replaced once the new one
    is complete; an archive is not. To mark an archive that was written anew, convert it once more.

    With --fs auto, all bandwidths share one frequency, the highest that one of them needs, while the method chooses
    another for each period that it looks for (fs_hz of the group periods). --fs HZ sets all of them. With --filter, the
    groups periods, regimes and components are those of the filtered signals; nothing else is filtered.

    An option that means nothing for the files of a suffix is refused. With --memory, operations in .parquet are
    numbered as they are read.
    """
    suffix = suffix_of(out)
    exporter = EXPORTERS.find(suffix[1:]) if suffix else None
    if suffix is None or exporter is None:
        raise click.UsageError(f"{printable(out.name)}: nothing writes {suffix or 'such files'} here")
    values: dict[str, Any] = {**vars(request), "rewrite": rewrite}
    _refuse_what_means_nothing(suffix, exporter.options)
    trace = request.open(relations=exporter.relations)
    with as_wrong_usage(OptionError):
        written = exporter.write(trace, out, **{name: values[name] for name in exporter.options})
    if written.note:
        warn(written.note, "note")
    print_written(trace, written, request.as_json)


def _refuse_what_means_nothing(suffix: str, taken: tuple[str, ...]) -> None:
    context = click.get_current_context()
    for name in OPTIONS:
        if name not in taken and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            others = {end: EXPORTERS.find(end[1:]) for end in known_suffixes()}
            takers = ", ".join(end for end, one in others.items() if one is not None and name in one.options)
            option = "layer" if name == "layers" else name
            raise click.UsageError(f"--{option} is for {takers}: it means nothing for {suffix}")
