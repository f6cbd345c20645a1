"""What is compared? Texts become sentences, words and shingles."""
