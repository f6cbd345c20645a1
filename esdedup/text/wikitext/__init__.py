"""What is the visible text of a page? Two ways to process wiki markup."""
