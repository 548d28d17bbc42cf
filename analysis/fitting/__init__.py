"""Signals as a few cosines."""
