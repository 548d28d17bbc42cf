"""IOSI (Liu et al., FAST'14): the bursts of I/O that the noisy runs of one application have in common."""
