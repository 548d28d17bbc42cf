"""Other recorders than Score-P: what they write becomes definitions and operations, as an OTF2 archive does."""
