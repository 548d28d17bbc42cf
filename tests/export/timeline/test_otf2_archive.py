"""A trace written anew is the same trace: layers, handles, comparison, periods; and nothing half-way is left behind."""

import errno
import os
import subprocess
import threading
from pathlib import Path

import pytest
from iostrata import OutputError, open_trace, write_otf2
from iostrata.analysis.comparison.layer_periods import layer_periods
from iostrata.analysis.comparison.layers import compare_layers
from iostrata.export.json.documents import handles_document, layers_document, periods_document

FIXTURES = Path(__file__).parents[3] / "fixtures"
SHARED = Path("/work/shared")
ARCHIVES = sorted(anchor.parent for anchor in FIXTURES.glob("*/traces.otf2"))
FOREIGN = sorted(anchor.parent for folder in ("traces", "benchmarks") for anchor in SHARED.glob(f"{folder}/*/traces.otf2"))


def told(trace):
    """Return all that the commands tell of a trace, without what is of its files."""
    layers = trace.layers.values()
    documents = [layers_document(trace, layers), handles_document(trace), periods_document(trace, layer_periods(layers))]
    for document in documents:
        del document["damage"], document["trace"]["path"], document["trace"]["events"], document["trace"]["engine"]
    compared = compare_layers(trace).to_dict()
    for finding in compared["findings"]:
        # That the damage may be its cause, which nothing tells of the new archive.
        finding["text"] = finding["text"].removesuffix(" (may come from the trace's damage)")
    return [*documents, compared]
