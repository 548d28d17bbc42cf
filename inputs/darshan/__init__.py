"""Darshan logs: segments of DXT as operations, HEATMAP as bytes by intervals, counters as sums without times."""
