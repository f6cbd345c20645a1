"""What does each page say? The content of the answers, for pages and as JSON."""
