"""Loops: the program read back from its own calls, by the shortest description."""
