"""Show the tree of I/O handles with the traffic of each."""

from ..options import LAYERS, MEMORY, READING
from ..request import Request, console, print_json, trace_command


@trace_command("handles traces.otf2 --files '*.nc'", LAYERS, *READING, MEMORY)
def command(request: Request) -> None:
    """A handle of a lower layer hangs below the handle that it serves. Handles of one layer and file stand on one line,
    as do files that differ in numbers only; --json has each by itself, those set aside too, which --files leaves out.
    Bytes are those moved, with decimal prefixes (1 MB = 1,000,000 B); subtree counts the operations on a handle and on
    all beneath it.

    With --layer, handles hang below their nearest ancestor in these layers; --json picks entries and leaves their
    parents and numbers as they are.
    """
    from ...analysis.comparison.layer_periods import chosen_layers

    trace = request.open()
    trace.definitions.recording.require(trace.path, "handles", "operations", "handles")
    chosen = chosen_layers(trace, request.layers) if request.layers else None
    if request.as_json:
        from ...export.json.documents import handles_document

        print_json(handles_document(trace, chosen))
    else:
        from ...export.terminal.handles import print_handles

        print_handles(trace, console(), chosen)
