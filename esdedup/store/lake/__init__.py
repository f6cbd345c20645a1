"""The store in a folder of Parquet files: a lake, which many tasks write at once and nobody changes afterwards."""
