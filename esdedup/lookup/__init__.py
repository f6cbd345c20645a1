"""Find the texts that are most like another one: by their grams, in folders of memory-mapped files."""
