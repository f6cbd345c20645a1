"""What would a reader see of a page? Two paths through wiki markup."""
