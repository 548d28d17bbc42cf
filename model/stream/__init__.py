"""One stream: sources give partitions, a function is mapped over them on threads or on a cluster."""
