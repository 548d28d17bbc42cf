"""Show what the program does over and over."""

from ..options import MEMORY, READING, option
from ..request import Request, console, print_json, refuse, trace_command

ITERATIONS = option(
    "--iterations",
    "Also list the iterations of each loop: begin, length, and what each layer moved and how long it was busy.",
)

BY = option(
    "--by",
    "List the loops by stream: for each kind of file (names that differ in numbers and the like) what is done to "
    "it in all, and in which loops. With --json the document has streams, too.",
    choices=["stream"],
)


@trace_command("loops traces.otf2 --iterations", ITERATIONS, BY, *READING, MEMORY)
def command(request: Request, iterations: bool, by: str | None) -> None:
    """The program read back from what it called itself: steps that ranks do again and again, as loops, with files of
    one kind (* stands for what differs in their names). An iteration is one pass; it has the bytes and the time of all
    that its calls caused in the layers below. Intervals are those from one begin to the next. In "regular (jitter 5 %,
    96 % sure)" the jitter is how much intervals vary, and the other number the probability that the word is right;
    "of 2 MB asked for" is what calls had room for where less came.

    A loop needs evidence: to tell the run by it must take fewer bits than to tell its steps one by one. Only a single
    step that is done many times is a loop without.
    """
    from ...analysis.loops.find import find_loops
    from ...analysis.loops.streams import streams_of

    refuse(
        {"--iterations lists those of whole loops, --by parts of loops: leave out one": iterations and by is not None}
    )
    found = find_loops(request.open())
    streams = None if by is None else streams_of(found)
    if request.as_json:
        print_json(found.to_dict() | ({} if streams is None else {"streams": [one.to_dict() for one in streams]}))
    else:
        from ...export.terminal.loops import print_loops, print_streams

        if streams is None:
            print_loops(found, console(), iterations)
        else:
            print_streams(found, streams, console())
