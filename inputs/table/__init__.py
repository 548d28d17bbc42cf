"""Tables of operations: what `iostrata.write_parquet` writes, and CSV, JSON lines and Parquet of anybody."""
