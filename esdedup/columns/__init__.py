"""How do columns move? Arrow, numpy and DuckDB helpers, hashing, the cache of compiled kernels."""
