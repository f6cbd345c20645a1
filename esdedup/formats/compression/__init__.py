"""How are compressed sources unpacked and packed?"""
