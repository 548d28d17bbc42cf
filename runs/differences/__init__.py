"""What differs between runs before and after a change: which of it matters, and how sure that is."""
