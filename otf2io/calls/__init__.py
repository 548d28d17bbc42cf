"""Calls of I/O libraries that an archive has as regions: made operations, handles and layers while it is read."""
