"""The command ``iostrata`` itself: a group whose commands are imported only when they are called."""

import os
from difflib import get_close_matches
from typing import Final

import click
from click.shell_completion import CompletionItem

from ..model.plugins import Plugins, docstring, instance_of
from ..model.text import printable, shortened

OVERVIEW: Final = "overview"
"""The command that a trace alone stands for."""
FIRST: Final = ("overview", "info", "layers", "handles", "periods", "compare", "report", "convert")
"""Commands on one trace, which ``iostrata --help`` lists before all others."""
COMMANDS: Final = Plugins("iostrata.commands", instance_of(click.Command))
"""Entry points whose modules begin with the line that ``iostrata --help`` shows of them."""


class LazyGroup(click.Group):
    """A group that lists its commands from `COMMANDS` and imports each only to run or explain it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        known = COMMANDS.names
        return [*(name for name in FIRST if name in known), *(name for name in known if name not in FIRST)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command `cmd_name`; None where there is no such command."""
        return COMMANDS.find(cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take options that stand before the command, or before a trace alone, as those of the command."""
        own = {name for one in self.get_params(ctx) for name in one.opts}
        if args and args[0].startswith("-") and args[0] not in own:
            place = next((place for place, one in enumerate(args) if one in COMMANDS.names), None)
            if place is not None:
                args = [args[place], *args[:place], *args[place + 1 :]]
            elif any(map(os.path.exists, args)):
                args = [OVERVIEW, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a trace alone stands for its overview, and of any other name say which may be meant."""
        name = args[0]
        if name in COMMANDS.names or name.startswith("-"):
            return super().resolve_command(ctx, args)
        # Of a name that is too long, too, which Path refuses.
        if os.path.exists(name):
            return super().resolve_command(ctx, [OVERVIEW, *args])
        shown = shortened(printable(name), 60)
        known = self.list_commands(ctx)
        alike = get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {alike[0]!r}?" if alike else f"commands are {', '.join(known)}"
        raise click.UsageError(f"no command and no file '{shown}'; {hint}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return commands and options that begin so, without importing them; else a trace, which is a file."""
        summaries = COMMANDS.summaries
        known = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        found = [CompletionItem(name, help=summaries[name]) for name in known]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*found, *options] if found or options else [CompletionItem(incomplete, type="file")]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        summaries = COMMANDS.summaries
        with formatter.section("Commands"):
            formatter.write_dl([(name, summaries[name]) for name in self.list_commands(ctx)])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="Example: iostrata periods traces.otf2 --layer MPI-IO --direction write\n\nDefaults of options stand in "
    "~/.config/iostrata/config.toml, such as workers = 4 for all commands. A shell completes commands and options: "
    'eval "$(_IOSTRATA_COMPLETE=bash_source iostrata)", or zsh_source.',
    no_args_is_help=False,
)
@click.version_option(package_name="iostrata", message="iostrata %(version)s", help="Print the version.")
def iostrata() -> None:
    """Show what each I/O layer did in a trace: its operations, its bandwidth over time and its period.

    TRACE is the anchor file (*.otf2) of a Score-P/OTF2 archive, or the folder that holds it; or a Darshan log, a file
    or folder of DFTracer, TMIO's output, or a table of operations (CSV, JSON lines, Parquet). TRACE alone, without a
    command, shows it on one screen.
    """


iostrata.help = docstring(iostrata.callback)
