"""What is compared? Texts into sentences, words and shingles."""
