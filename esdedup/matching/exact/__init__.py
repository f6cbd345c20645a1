"""Which pairs are there at all? The join of all texts with all."""
