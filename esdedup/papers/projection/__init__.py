"""Whose sentence vectors point the same way? (Meng and Zheng 2018)"""
