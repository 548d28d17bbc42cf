"""Which I/O handles stand under which."""
