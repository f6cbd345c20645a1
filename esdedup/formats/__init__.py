"""Where do documents come from, and how is a source written again without some of them?"""
