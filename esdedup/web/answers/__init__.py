"""What does each page tell? The content of answers, in pages and as JSON."""
