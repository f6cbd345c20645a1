"""Which texts share a token, and which of them are similar? The collision scan."""
