"""What became of one layer's operations in the layers below."""
