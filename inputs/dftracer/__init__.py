"""Traces of DFTracer: Chrome's trace events, one JSON object a line, plain or compressed by gzip, in both dialects."""
