"""Which sentence vectors point in the same direction? (Meng and Zheng 2018)"""
