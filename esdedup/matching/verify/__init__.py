"""What makes a pair of a candidate?"""
