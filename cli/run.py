"""The command from its arguments to its exit code, whatever happens on the way."""

import gc
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

import click

from ..model.budget import LOOKED_THROUGH_AFTER
from ..model.errors import IostrataError
from ..model.interrupts import end_like_interrupts, end_within
from ..model.plugins import PluginWarning
from ..model.text import printable
from .group import iostrata
from .streams import give_up_stdout, no_room, prepare_streams, stdout_fails

_INTERRUPTED, _GRACE_S = 130, 2.0
"""Exit code after an interrupt, and time in s in which threads may end."""
_COMPLETION = "_IOSTRATA_COMPLETE"
_COMPILED_IN_VAIN = (
    "the loops compiled for this machine could not be kept, so each run compiles them anew; let NUMBA_CACHE_DIR name a "
    "folder with room that you may write to"
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what `iostrata.cli.main` promises."""
    alone = arguments is None
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    # The matrices here are small: threads of the linear algebra only wait for each other, worst on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(LOOKED_THROUGH_AFTER)
    if _COMPLETION in os.environ:
        iostrata.main(arguments, prog_name="iostrata", complete_var=_COMPLETION)
    try:
        prepare_streams()
        end_like_interrupts()
        _keep_what_is_written_ours()
        return _run(arguments)
    except BrokenPipeError:
        # Who reads our output (``| head``) has had enough, which is no failure.
        give_up_stdout()
        return 0
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "iostrata"
        return _fail(f"{error.format_message().rstrip('.')} (see '{command} --help')", error.exit_code)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except IostrataError as error:
        return _fail(str(error), 1)
    except OSError as error:
        if no_room(error) or stdout_fails():
            give_up_stdout()
            reason = (error.strerror or "it is closed").lower()
            return _fail(f"cannot write the output: {reason}; free some space or send it elsewhere", 1)
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), 1)
    except MemoryError:
        return _fail("out of memory; narrow the analysis with --window, --layer or --files", 1)
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(alone)
    except SystemError as error:
        # An interrupt that arrives while compiled code starts or ends comes wrapped up.
        if _has_interrupt(error):
            return _interrupted(alone)
        raise


def _keep_what_is_written_ours() -> None:
    """Let a file mask take rights from others only: what its owner cannot enter can be neither used nor removed."""
    os.umask(os.umask(0o077) & 0o077)


def _run(arguments: list[str]) -> int:
    if not arguments:
        click.echo(iostrata.make_context("iostrata", [], resilient_parsing=True).get_help(), err=True)
        return 2
    try:
        os.getcwd()
    except OSError as error:
        # Libraries fail without, each in its own way, while they are imported.
        raise click.ClickException(f"no working folder ({error.strerror}); change into one that exists") from None
    status = 0
    try:
        with (
            _plugin_warnings_in_a_line(),
            iostrata.make_context("iostrata", list(arguments), obj=tuple(arguments)) as context,
        ):
            iostrata.invoke(context)
    except click.exceptions.Exit as done:
        status = done.exit_code
    if sys.stdout is not None:
        sys.stdout.flush()
    if status == 0:
        _tell_what_was_compiled_in_vain()
    return status


@contextmanager
def _plugin_warnings_in_a_line() -> Iterator[None]:
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, PluginWarning):
                click.echo(f"iostrata: warning: {printable(str(message))}", err=True)
            else:
                shown(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def _tell_what_was_compiled_in_vain() -> None:
    # Where the loops came compiled it need not be importable.
    compiling = sys.modules.get(f"{__package__.rpartition('.')[0]}.model.compiling")
    if compiling is not None and compiling.compiled_in_vain():
        click.echo(f"iostrata: note: {_COMPILED_IN_VAIN}", err=True)


def _has_interrupt(error: BaseException | None) -> bool:
    """Tell whether an interrupt is among what led to `error`."""
    seen = 0
    while error is not None and seen < 100:
        if isinstance(error, KeyboardInterrupt):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


def _interrupted(alone: bool) -> int:
    """Say so; where the process is ours `alone`, it ends soon, too."""
    if alone:
        end_within(_GRACE_S, _INTERRUPTED)
    return _fail("interrupted", _INTERRUPTED)


def _fail(message: str, status: int) -> int:
    click.echo(f"iostrata: error: {printable(' '.join(message.split()))}", err=True)
    return status
