"""Layers summed up in bounded memory while a trace is read."""
