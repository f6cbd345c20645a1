"""Which pairs exist? The exact join of all texts."""
