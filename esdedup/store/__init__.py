"""Where do documents, their sentences and the results of scans live? See `registry` for the way in."""
