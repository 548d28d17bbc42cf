"""How much each layer did."""
