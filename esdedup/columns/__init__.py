"""How are columns handled? Arrow, numpy and DuckDB helpers, hashing, the cache of compiled kernels."""
