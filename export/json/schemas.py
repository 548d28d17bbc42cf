"""The schema of the document that each command prints with ``--json``."""

from inspect import isfunction
from typing import Annotated, Any, Final

from ...analysis.comparison.layers import Comparison
from ...analysis.comparison.overview import Overview
from ...analysis.loops.loops import Loops
from ...analysis.loops.streams import FileStream
from ...layers.document import OF_TRACE
from ...live.following import Update
from ...model.document import Document
from ...model.version import __version__
from ...runs.differences.difference import DIFFERENCE
from ...runs.scores.limits import MetricLimits
from ..collection import CollectionWritten
from ..written import Written
from .documents import counted_document, handles_document, info_document, layers_document, periods_document
from .provenance import Provenance
from .runs import assess_document, likeness_document, schedule_document, signature_document
from .schema import parts_of, returned, schema_of

_OUTPUT: Final = {"schema_version": int, "output": Written}
_BROKEN: Final = {"broken_rules?": list[Annotated[Document, {"rule": str, "changes": list[str]}]], "output?": Written}
_OF_FILE: Final = Annotated[Document, OF_TRACE, {"output": Written}]
_KINDS: Final[dict[str, tuple[Any, ...]]] = {
    "assess": (assess_document, Annotated[Document, MetricLimits, {"output": Written}]),
    "collect": (Annotated[Document, {"schema_version": int, "output": CollectionWritten}],),
    "compare": (Comparison.to_dict,),
    "convert": (_OF_FILE,),
    "diff": (Annotated[Document, DIFFERENCE, _BROKEN],),
    "handles": (handles_document,),
    "info": (info_document,),
    "layers": (layers_document, counted_document),
    "loops": (Annotated[Document, *parts_of(returned(Loops.to_dict)), {"streams?": tuple[FileStream, ...]}],),
    "overview": (Overview.to_dict, counted_document),
    "periods": (periods_document,),
    "record": (Overview.to_dict, counted_document),
    "report": (_OF_FILE, Annotated[Document, _OUTPUT]),
    "schedule": (schedule_document,),
    "signature": (signature_document, likeness_document),
}
_LINES: Final = {"watch": Update.line}
"""Commands that print a document a line, which tells nothing of its provenance."""
COMMANDS: Final = tuple(sorted({*_KINDS, *_LINES}))
"""Those whose documents have a schema."""


def command_schema(command: str) -> Document:
    """Return the schema of what a command prints with ``--json``."""
    title = f"iostrata {command}, {__version__}"
    if command in _LINES:
        return schema_of(f"A line of {title}", returned(_LINES[command]), within=command)
    kinds = [returned(one) if isfunction(one) else one for one in _KINDS[command]]
    return schema_of(
        title, *(Annotated[Document, *parts_of(one), {"provenance": Provenance}] for one in kinds), within=command
    )
