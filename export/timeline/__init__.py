"""Traces and periods for viewers of timelines: Perfetto, and markers in OTF2."""
