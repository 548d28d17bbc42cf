"""What a scheduler of I/O gains: jobs on a shared file system, simulated under several policies (Set-10 and others)."""
