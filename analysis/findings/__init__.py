"""What stands out in a trace, with evidence and advice."""
