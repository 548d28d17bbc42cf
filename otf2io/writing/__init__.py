"""OTF2 archives, and markers for them, written."""
