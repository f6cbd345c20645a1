"""A wiki of any size, up to that of the English Wikipedia and beyond, made as fast as it is read.

Its sentences are random words, so it says nothing; their lengths, their words' frequencies, the markup and the sizes of
clusters are as in real dumps. Nothing is kept: what stands at a place follows from the number of the place.
"""
