"""How does a scan run on one machine? DuckDB, compiled kernels, threads."""
