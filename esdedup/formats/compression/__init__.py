"""How are sources decompressed and compressed?"""
