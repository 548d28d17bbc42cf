"""What every recorder gives, whatever its file format: definitions, operations, metadata events, damage."""
