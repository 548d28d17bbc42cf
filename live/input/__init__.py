"""What a running job tells: sources, their lines, and records on one clock."""
