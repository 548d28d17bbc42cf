"""Show what each I/O layer did: operations, bytes, time, requests."""

from ..options import DIRECTION, LAYERS, MEMORY, RANKS, READING, TRAFFIC, by_rank, option
from ..request import Request, console, print_counters, print_json, trace_command

BY = option(
    "--by",
    "Also split the layers: operations of each kind (metadata too), bytes, time and where requests lie in their "
    "files (consecutive, in strides, random) by layer alone, file, stream (files whose "
    "names differ in numbers and the like), file system, rank, compute node, handle, the I/O function that was called, "
    "the program's own function that called it (with source file and line), or the path of all calls. All directions "
    "and all traffic are shown.",
    choices=["layer", "file", "stream", "filesystem", "rank", "node", "handle", "function", "caller", "callpath"],
)


@trace_command(
    "layers traces.otf2 --direction write --window 10:60", LAYERS, DIRECTION, TRAFFIC, BY, RANKS, *READING, MEMORY
)
def command(request: Request, by: str | None, ranks: tuple[int, ...]) -> None:
    """One row per layer and direction, the highest layer first. Bytes are those moved by completed operations, with
    decimal prefixes (1 MB = 1,000,000 B); busy is the time in s in which at least one operation was under way, summed
    is the sum of all durations; opens, closes and other calls that move no data are timed from Enter to Leave, where
    the trace has them; own is the share of bytes that the program moved by calling this layer itself, the rest
    is inherited: a higher layer caused it. Set aside are operations on files that --files leaves out. The longest
    chain of waiting is given where ranks make at most 2^21 calls in which all can meet; of its steps --json gives the
    1000 at whose end the others wait longest.
    """
    from ...analysis.comparison.layer_periods import chosen_layers
    from ...layers.selection.source import NoTimesError

    by = by_rank(by, ranks)
    try:
        trace = request.open(handle_bytes=450)
    except NoTimesError as error:
        if by is not None:
            raise
        print_counters(error.source, request)
        return
    chosen = chosen_layers(trace, request.layers)
    # What cannot be split is refused before anything is printed.
    table = None if by is None else trace.breakdown(by).of_layers(tuple(layer.name for layer in chosen), ranks)
    if request.as_json:
        from ...export.json.documents import layers_document

        print_json(layers_document(trace, chosen, request.directions, request.traffic, table))
    else:
        from ...export.terminal.layers import print_layers

        print_layers(trace, chosen, request.directions, console(), request.traffic, table)
