"""Defaults of options out of a file of the user's: TOML with a table a command, and what all commands share above."""

import os
import tomllib
from pathlib import Path
from typing import Any, Final

import click

from .group import COMMANDS

VARIABLE: Final = "IOSTRATA_CONFIG"
"""Names another file; empty for none."""


def path_of_defaults() -> Path | None:
    """Return where the file is, if there is one or the environment names one."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    usual = Path(folder) / "iostrata" / "config.toml"
    return usual if usual.is_file() else None


def defaults_for(name: str, command: click.Command) -> dict[str, Any]:
    """Return the defaults of a command's options by the names of their parameters.

    Keys above all tables go to every command that has such an option; those of a table to its command alone.

    Raises
    ------
    click.UsageError
        If the file cannot be read, is not TOML, or names an option or command that is not there.
    """
    path = path_of_defaults()
    if path is None:
        return {}
    try:
        told = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise click.UsageError(f"cannot use {path}: {reason}") from None
    known = COMMANDS.names
    shared = {key: value for key, value in told.items() if not isinstance(value, dict)}
    if wrong := [key for key, value in told.items() if isinstance(value, dict) and key not in known]:
        raise click.UsageError(f"{path}: [{wrong[0]}] is no command; commands are {', '.join(known)}")
    own = told[name] if isinstance(told.get(name), dict) else {}
    options = _options(command)
    if wrong := [key for key in own if key not in options]:
        raise click.UsageError(f"{path}: {name} has no option --{wrong[0]}; it has {', '.join(options)}")
    if missing := [key for key in shared if key not in options]:
        every = {key for one in COMMANDS.all().values() for key in _options(one)}
        if wrong := [key for key in missing if key not in every]:
            raise click.UsageError(f"{path}: no command has an option --{wrong[0]}; set [COMMAND] above its own")
    used = {options[key]: value for key, value in (shared | own).items() if key in options}
    return {str(option.name): _as_typed(option, value) for option, value in used.items()}


def _as_typed(option: click.Option, value: Any) -> Any:
    """Return a value as it would be typed, text; a list of these for options that may be repeated."""
    if not option.multiple:
        return str(value)
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _options(command: click.Command) -> dict[str, click.Option]:
    """Return options by their names without the dashes."""
    every = [one for one in command.params if isinstance(one, click.Option) and one.name]
    return {name.removeprefix("--"): one for one in every for name in one.opts if name.startswith("--")}
