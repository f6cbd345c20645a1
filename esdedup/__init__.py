"""esdedup: near-duplicate sentences in large text collections."""

__version__ = "0.1.0"
