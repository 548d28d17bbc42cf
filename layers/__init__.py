"""iostrata."""
