"""What a period detection gives back."""
