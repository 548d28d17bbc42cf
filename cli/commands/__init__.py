"""One short module a command, loaded when it runs."""
