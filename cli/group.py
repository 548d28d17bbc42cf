"""The command ``iostrata`` itself: a group whose commands are imported only when they are called."""

import os
from difflib import get_close_matches
from importlib import import_module
from typing import Final

import click
from click.shell_completion import CompletionItem

from ..model.text import printable, shortened

OVERVIEW: Final = "overview"
"""The command that a trace alone stands for."""
COMMANDS: Final = {
    "overview": "Show a trace on one screen; iostrata TRACE alone does so too.",
    "info": "Summarise what a trace defines, without reading its events.",
    "layers": "Show what each I/O layer did: operations, bytes, time, requests.",
    "handles": "Show the tree of I/O handles with the traffic of each.",
    "periods": "Show each layer's bandwidth over time and its period.",
    "compare": "Show what each layer makes of the one above, with findings.",
    "report": "Write a page that shows a trace or many runs: one HTML file.",
    "watch": "Follow a running job: its periods by layer, and the next phase.",
    "collect": "Read many traces into Parquet tables, which say what each run did.",
    "diff": "Show what differs between runs before and after a change.",
    "signature": "Show the bursts of I/O that all runs of an application share.",
    "assess": "Rank jobs by how much their I/O deserves a look.",
    "schedule": "Show what scheduling I/O by period would gain for jobs together.",
    "convert": "Write files for other tools: HDF5, Parquet, OTF2, timelines, FTIO.",
}
"""Commands in the order of ``iostrata --help``, with the first line of their own help."""


class LazyGroup(click.Group):
    """A group that lists its commands from `COMMANDS` and imports each only to run or explain it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command `cmd_name`; None where there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f".commands.{cmd_name}", __package__).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a trace alone stands for its overview, and of any other name say which may be meant."""
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        # Of a name that is too long, too, which Path refuses.
        if os.path.exists(name):
            return super().resolve_command(ctx, [OVERVIEW, *args])
        shown = shortened(printable(name), 60)
        alike = get_close_matches(name.lower(), COMMANDS, n=1)
        hint = f"did you mean {alike[0]!r}?" if alike else f"commands are {', '.join(COMMANDS)}"
        raise click.UsageError(f"no command and no file '{shown}'; {hint}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return commands and options that begin so, without importing them; else a trace, which is a file."""
        found = [
            CompletionItem(name, help=summary) for name, summary in COMMANDS.items() if name.startswith(incomplete)
        ]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*found, *options] if found or options else [CompletionItem(incomplete, type="file")]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from ..model.version import __version__

        click.echo(f"iostrata {__version__}")
        context.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: iostrata periods traces.otf2 --layer MPI-IO --direction write",
    no_args_is_help=False,
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Print the version."
)
def iostrata() -> None:
    """Show what each I/O layer did in a trace: its operations, its bandwidth over time and its period.

    TRACE is the anchor file (*.otf2) of a Score-P/OTF2 archive, or the folder that holds it; or a Darshan log, a file
    or folder of DFTracer, TMIO's output, or a table of operations (CSV, JSON lines, Parquet). TRACE alone, without a
    command, shows it on one screen.
    """
