"""Which records hold most of the terms of another? (Pal 2014)"""
