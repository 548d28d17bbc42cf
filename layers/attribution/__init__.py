"""Which operation of a higher layer caused each operation."""
