"""When a period holds: wavelets, filters, sliding correlation (FTIO, Frontiers'25)."""
