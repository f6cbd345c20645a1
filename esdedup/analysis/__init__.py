"""What does a cluster say? Kinds, contradictions, templates as tables, who said it first."""
