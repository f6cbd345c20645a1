"""Records are compared field by field, and weighed without labels."""
