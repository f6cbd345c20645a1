"""Which candidates are pairs?"""
