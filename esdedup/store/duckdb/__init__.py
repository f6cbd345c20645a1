"""A store in a file."""
