"""Run a program under Score-P with all its I/O layers."""

import shlex
from contextlib import suppress
from pathlib import Path

import click

from ...model.errors import RecordingError
from ..options import option
from ..request import Request, command_of, warn

FOLDER = option("-o --output FOLDER", "Where the archive comes, a new folder.  [default: iostrata-DATE-TIME]", "folder")
LIVE = option(
    "--live",
    "While the program runs, also tell what it moves in MPI-IO, ISO C and POSIX, in files in FOLDER.live, or where "
    "IOSTRATA_LIVE says; the line for another terminal, iostrata watch FOLDER.live, is printed.",
)
COMMAND = click.argument("words", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)


@command_of("record -o trace -- mpirun -n 4 ./app input.nml", FOLDER, LIVE, COMMAND)
def command(folder: Path | None, live: bool, words: tuple[str, ...], as_json: bool) -> None:
    """COMMAND is what starts the program, behind --: with mpirun, srun or another launcher, or without. The program
    need not be built with Score-P; netCDF, HDF5, PnetCDF and ADIOS2 are recorded as they are called, MPI-IO, POSIX and
    ISO C by Score-P. Score-P is the one of SCOREP (its prefix) or of the PATH. What is set by variables SCOREP_…
    holds; SCOREP_TOTAL_MEMORY is of each process, 256M unless it is set.

    At the end comes what "iostrata FOLDER" shows. The program's exit code is that of this command, and its output stays
    where it is; with --json it goes to the standard error.
    """
    from ...live.recorded import faults_of, layers_in
    from ...live.recording import check_archive, ending, lines_at, make_folder, new_folder, prepared, run_to_its_end

    place = new_folder(folder)
    lines = lines_at(place) if live else None
    started = prepared(words, place, lines)
    made = lines is not None and not lines.startswith("unix:") and not Path(lines).exists()
    if lines is not None:
        if made:
            make_folder(lines)
        click.echo(f"While it runs, type in another terminal: iostrata watch {shlex.quote(lines)}", err=True)
    code = run_to_its_end(started, as_error=as_json)
    if lines is not None and made:
        # A program that never began has told nothing, and may be tried again.
        with suppress(OSError):
            Path(lines).rmdir()
    if code:
        warn(f"the program {ending(code)}")
    try:
        anchor = check_archive(place, code)
    except RecordingError as error:
        if code == 0:
            raise
        warn(str(error))
        click.get_current_context().exit(code)
    from .overview import show_overview

    trace = show_overview(Request(anchor, as_json=as_json))
    if trace is not None:
        for fault in faults_of(trace, words):
            warn(fault)
        click.echo(f"\n{layers_in(trace)}.", err=True)
    click.echo(f"The archive is in {place}.", err=True)
    click.get_current_context().exit(code)


# What follows the program's name is the program's, also where no -- stands before it.
command.allow_interspersed_args = False
