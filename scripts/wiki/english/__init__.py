"""The English of the generated articles: names, words and clauses, in text files, and how they become sentences."""
