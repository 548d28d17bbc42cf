"""What many runs tell together, in a terminal, as a page and in files."""
