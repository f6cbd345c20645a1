"""What do other published systems do? Candidates by agreement, by random projection, by queries."""
