"""Scans on one machine, with DuckDB, compiled kernels and threads."""
