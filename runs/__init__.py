"""Many runs: a collection of them in tables, and what differs between them."""
