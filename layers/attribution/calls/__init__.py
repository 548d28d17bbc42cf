"""Who calls what: call paths, the time of every call, and what of a run is spent in which layer."""
