"""Many runs: a collection of them in tables, what they have in common, which deserve a look, and what differs."""
