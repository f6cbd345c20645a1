"""How do people look at a store in a browser? The web page and its API."""
