"""What is written, and how does it look? Result files, tables, reports, plots."""
