"""From events to operations: each begin with its end."""
