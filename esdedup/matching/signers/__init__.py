"""How do similar texts get equal tokens?"""
