"""A collection of runs: what each trace says in a few rows, in tables that any tool can query."""
