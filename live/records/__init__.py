"""Lines of a running job, and the records that they hold."""
