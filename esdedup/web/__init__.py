"""How do people look at a store? A page for browsers, and its API."""
