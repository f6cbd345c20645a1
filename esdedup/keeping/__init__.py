"""Which copy stays? Policies, each of which prefers one of two copies."""
