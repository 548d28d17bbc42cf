"""Show a trace on one screen; iostrata TRACE alone does so too."""

from typing import TYPE_CHECKING

from ..options import DIRECTION, FREQUENCY, LAYERS, MEMORY, METHOD, READING
from ..request import Request, console, print_counters, print_json, refuse_frequency, trace_command

if TYPE_CHECKING:
    from ...layers.trace import Trace


@trace_command("overview traces.otf2", LAYERS, DIRECTION, METHOD, FREQUENCY, *READING, MEMORY)
def command(request: Request) -> None:
    """A row per layer and direction: bytes (1 MB = 1,000,000 B), the time in s in which it was busy and the bytes per
    second of that time; its period with how far it may be off, the confidence in it (0 to 1), and from when to when it
    holds. Below, the first findings with what each costs the run. periods, compare and layers tell more.
    """
    refuse_frequency(request)
    show_overview(request)


def show_overview(request: Request) -> "Trace | None":
    """Print the overview of a trace, or its document, and return it; None of a recording without times."""
    from ...analysis.comparison.layer_periods import chosen_layers
    from ...analysis.comparison.overview import overview_of
    from ...layers.selection.source import NoTimesError

    try:
        trace = request.open(relations=True)
    except NoTimesError as error:
        print_counters(error.source, request)
        return None
    found = overview_of(trace, chosen_layers(trace, request.layers), request.directions, request.method, request.fs)
    if request.as_json:
        print_json(found.to_dict())
    else:
        from ...export.terminal.overview import print_overview

        print_overview(found, console())
    return trace
