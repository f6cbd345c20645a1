"""Which texts share a token, and which of those are alike? The collision scan."""
