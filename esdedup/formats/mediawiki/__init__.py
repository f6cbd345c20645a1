"""How are wiki dumps read, and written as cleaned pages?"""
