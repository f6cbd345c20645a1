"""Where sentences end: one compiled pass over the text, and words of each language as data."""
