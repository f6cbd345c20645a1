"""Scans on Apache Spark: a corpus that outgrows one machine. The result is that of the local engine, byte for byte.

Spark distributes tasks and moves blocks of rows between them; what runs in a task is ours, on flat arrays. A row of a
Spark table is a whole Arrow table, and Spark never looks into it.
"""
