"""What does a cluster mean? Kinds, contradictions, templates as tables, and who wrote a sentence first."""
