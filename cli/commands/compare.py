"""Show what each layer makes of the one above, with findings."""

from ..options import BRIEF, DIRECTION, FREQUENCY, LAYERS, MEMORY, METHOD, READING
from ..request import Request, console, is_given, print_json, refuse_frequency, trace_command


@trace_command("compare traces.otf2 --direction write", BRIEF, LAYERS, DIRECTION, METHOD, FREQUENCY, *READING, MEMORY)
def command(request: Request, brief: bool) -> None:
    """First neighbouring layers and what stands out, on one screen. Then findings with what helps; for each upper and
    lower layer bytes and their ratio, the ranks that moved them, the fan-out (operations below inside one
    operation above) and what became of the period; where the time of operations goes; and the bytes that
    only one of two layers shows.

    A lower layer's bytes by descent went through handles below the upper layer's; those inside ran within its
    operations, the rest is hidden. Lag is positive where the lower layer follows; coherence, 0 to 1, says how closely
    both vary together at the upper layer's period.
    """
    from ...analysis.comparison.layers import compare_layers

    refuse_frequency(request)
    trace = request.open(relations=True)
    asked = request.named("layers", "directions", "method", "fs")
    comparison = compare_layers(trace, **asked, by_loops=not is_given("method"))
    if request.as_json:
        print_json(comparison.to_dict())
    else:
        from ...export.terminal.compare import print_comparison

        print_comparison(comparison, console(), brief)
