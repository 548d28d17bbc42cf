"""The engine that reads event files through the official library."""
