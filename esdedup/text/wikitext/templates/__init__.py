"""What does a reader see of a template?"""
