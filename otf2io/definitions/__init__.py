"""What an archive defines: records, tables, regions of I/O functions."""
