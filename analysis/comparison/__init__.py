"""Layers of one trace set against each other."""
