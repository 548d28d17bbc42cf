"""A running job: what its recorder says while it goes on becomes signals, periods and the next phase."""
