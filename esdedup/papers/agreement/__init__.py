"""Which signatures agree on most of their values? (Ahmed 2022)"""
