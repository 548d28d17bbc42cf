"""Step functions of time, their exact sums, samples and bins; no traces, no layers."""
