"""What is written, and what does it look like? Result files, tables, reports, plots."""
