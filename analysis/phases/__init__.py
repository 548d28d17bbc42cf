"""What `auto` is made of: bursts at every scale, divided into stretches with a period and without."""
