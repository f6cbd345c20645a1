"""Which records contain most of the terms of another record? (Pal 2014)"""
