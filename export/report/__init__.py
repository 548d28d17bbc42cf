"""The report: one self-contained HTML file that shows a trace's I/O, layer by layer, on one time axis."""
