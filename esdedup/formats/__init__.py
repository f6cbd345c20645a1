"""Where do documents come from, and how is a source rewritten without some of them?"""
