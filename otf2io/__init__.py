"""Floor 1: an OTF2 archive becomes columns."""
