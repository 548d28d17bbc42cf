"""The documents of ``--json``."""
