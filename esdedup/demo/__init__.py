"""What do results look like? A generated wiki with planted clusters of every kind, and a check that they are found."""
