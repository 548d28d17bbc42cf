"""Print the JSON Schema of what a command prints with --json."""

import click

from ..request import command_of


def _documented(_context: click.Context, _option: click.Parameter, name: str) -> str:
    from ...export.json.schemas import COMMANDS

    if name not in COMMANDS:
        raise click.BadParameter(f"{name!r} prints no document; these do: {', '.join(COMMANDS)}")
    return name


OF = click.argument("of", metavar="COMMAND", callback=_documented)


@command_of("schema layers", OF, as_json=None)
def command(of: str) -> None:
    """The schema is one of the draft 2020-12. Its sentences and units are those of the tables and of the glossary. New
    keys may come within one schema_version, so validate with the schema of the version that wrote a document; a key
    that is there keeps its name, unit and meaning. Of watch it is the schema of a line.
    """
    from ...export.json.documents import json_text
    from ...export.json.schemas import command_schema

    click.echo(json_text(command_schema(of)))
