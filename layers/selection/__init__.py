"""Which files, which times and which directions count."""
