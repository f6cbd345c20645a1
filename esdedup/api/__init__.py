"""The verbs for Python: every parameter named and typed, results as objects that show, convert and print themselves."""
