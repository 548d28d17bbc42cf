"""Show what the program does over and over."""

import click

from ..options import MEMORY, READING
from ..request import Request, console, print_json, trace_command

ITERATIONS = click.option(
    "--iterations",
    is_flag=True,
    help="Also list the iterations of each loop: begin, length, and what each layer moved and how long it was busy.",
)


@trace_command("loops traces.otf2 --iterations", ITERATIONS, *READING, MEMORY)
def command(request: Request, iterations: bool) -> None:
    """The program read back from what it called itself: steps that ranks do again and again, as loops, with files of
    one kind (* stands for what differs in their names). An iteration is one pass; it has the bytes and the time of all
    that its calls caused in the layers below. Intervals are those from one begin to the next.

    A loop needs evidence: to tell the run by it must take fewer bits than to tell its steps one by one. Only a single
    step that is done many times is a loop without.
    """
    from ...analysis.loops.find import find_loops

    found = find_loops(request.open())
    if request.as_json:
        print_json(found.to_dict())
    else:
        from ...export.terminal.loops import print_loops

        print_loops(found, console(), iterations)
