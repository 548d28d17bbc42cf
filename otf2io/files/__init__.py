"""The files of an archive: its anchor, what holds for all of them, and the official library that reads them."""
