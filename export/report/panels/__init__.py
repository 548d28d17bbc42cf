"""One panel of the report a file."""
