"""What does it look like? A made-up wiki with planted clusters of every kind, and what is found of them."""
