"""Pages in HTML as the text that a reader sees."""
