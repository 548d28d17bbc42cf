"""What the method ``auto`` is made of."""
