"""Answer an assistant's questions about traces (MCP)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from ..options import option
from ..request import as_wrong_usage, command_of

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from ..answers import AllowedFolders

_INSTRUCTIONS: Final = (
    "iostrata tells what the I/O of an HPC program did, layer by layer, from a recorded trace. Ask traces() what there "
    "is, overview() first, then what it leaves open. Never add the bytes of layers up: a lower layer repeats those of "
    "the one above. Each answer names the command that its numbers come from; quote it with them. Where `cut` names a "
    "list, only its first entries are there: narrow the question by layer, direction or window. Times are in s from "
    "the trace's start, volumes in bytes."
)
_MOST_TRACES: Final = 1000

FOLDERS = option(
    "--folder FOLDER",
    "What is in it, and below it, may be asked about and nothing else; no link leads out. Repeatable.",
    "folders",
    multiple=True,
    required=True,
)


@command_of("mcp --folder /scratch/traces", FOLDERS, as_json=None)
def command(folders: tuple[Path, ...]) -> None:
    """It speaks on standard input and output, as assistants start such programs, and opens no connection; the library
    is installed by the extra mcp. Each answer has the command that gives the same, is at most 60,000 characters long,
    and says which lists it leaves the rest of out. A question that takes longer than five minutes is given up.
    """
    from ...model.errors import SelectionError, import_library
    from ..answers import AllowedFolders

    import_library("mcp")
    with as_wrong_usage(SelectionError):
        allowed = AllowedFolders.of(folders)
    serve(allowed).run("stdio")


TracePath = Annotated[str, "Path of a trace: an anchor (*.otf2), a Darshan log or other recorder's file, or a folder."]
LayerName = Annotated[str | None, "Only this layer: netCDF, PnetCDF, HDF5, ADIOS, MPI-IO, ISOC or POSIX."]
DirectionName = Annotated[Literal["read", "write", "total"] | None, "Default: read and write, each by itself."]
WindowText = Annotated[str | None, "START:END in s from the trace's start; either may be left out."]


def serve(allowed: "AllowedFolders") -> "MCPServer[Any]":
    """Return the server with its tools; needs mcp."""
    from mcp.server.mcpserver import MCPServer
    from mcp_types import ToolAnnotations

    from ...model.version import __version__

    server: MCPServer[Any] = MCPServer("iostrata", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING")
    ask = Questions(allowed)
    for tool in (
        ask.traces, ask.overview, ask.layers, ask.loops, ask.periods, ask.compare, ask.findings, ask.diff, ask.jobs,
    ):  # fmt: skip
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    return server


@dataclass(frozen=True)
class Questions:
    """What may be asked about traces in some folders: signatures and docstrings are what an assistant reads."""

    allowed: "AllowedFolders"

    def traces(
        self, folder: Annotated[str | None, "Below this one; default: all folders that may be read."] = None
    ) -> dict[str, Any]:
        """List the traces that may be asked about."""
        from ...runs.collection.content import find_traces

        with _as_tool_error():
            chosen = [self.allowed.checked(one) for one in ([folder] if folder else map(str, self.allowed.folders))]
            found = [str(one) for one, _ in zip(find_traces(chosen), range(_MOST_TRACES + 1), strict=False)]
        return {"traces": found[:_MOST_TRACES], "more": len(found) > _MOST_TRACES}

    def overview(self, trace: TracePath, layer: LayerName = None, direction: DirectionName = None) -> dict[str, Any]:
        """Tell what a run's I/O was: each layer with its bytes, time and period, the story of the run, and findings."""
        return self._ask("overview", trace, layer=layer, direction=direction)

    def layers(
        self,
        trace: TracePath,
        layer: LayerName = None,
        direction: DirectionName = None,
        window: WindowText = None,
        by: Literal["layer", "file", "stream", "filesystem", "rank", "node", "function", "caller"] | None = None,
    ) -> dict[str, Any]:
        """Tell what each layer did: operations, bytes, times, request sizes, ranks; with `by` also split by a key."""
        return self._ask("layers", trace, layer=layer, direction=direction, window=window, by=by)

    def loops(self, trace: TracePath) -> dict[str, Any]:
        """Tell what the program does again and again, and which layer and rank make an iteration slow."""
        return self._ask("loops", trace)

    def periods(
        self, trace: TracePath, layer: LayerName = None, direction: DirectionName = None, window: WindowText = None
    ) -> dict[str, Any]:
        """Tell the period of each layer's bandwidth with its interval and confidence, phases and regimes."""
        return self._ask("periods", trace, layer=layer, direction=direction, window=window)

    def compare(self, trace: TracePath, layer: LayerName = None, direction: DirectionName = None) -> dict[str, Any]:
        """Tell what each layer makes of the one above: amplification, splitting, hidden traffic, and findings."""
        return self._ask("compare", trace, layer=layer, direction=direction)

    def findings(self, trace: TracePath) -> dict[str, Any]:
        """Tell what deserves attention in a run, each finding with its evidence, its cost and advice."""
        return self._ask("overview", trace, keep=("schema_version", "trace", "findings", "damage"))

    def diff(self, before: TracePath, after: TracePath) -> dict[str, Any]:
        """Tell what differs between two runs, or two folders of runs, and whether it matters."""
        return self._ask("diff", before, after)

    def jobs(
        self, runs: Annotated[str, "A folder of traces, or a collection of `iostrata collect`."]
    ) -> dict[str, Any]:
        """Rank jobs by how much their I/O deserves a look."""
        return self._ask("assess", runs)

    def _ask(self, name: str, *paths: str, keep: tuple[str, ...] = (), **options: str | None) -> dict[str, Any]:
        from ..answers import answer

        given = [f"--{option}={value}" for option, value in options.items() if value is not None]
        with _as_tool_error():
            return answer([name, *(str(self.allowed.checked(path)) for path in paths), *given], keep)


@contextmanager
def _as_tool_error() -> Iterator[None]:
    """Let what cannot be answered be an answer that says so."""
    from mcp.server.mcpserver.exceptions import ToolError

    from ...model.errors import IostrataError

    try:
        yield
    except IostrataError as error:
        raise ToolError(str(error)) from None
