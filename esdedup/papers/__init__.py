"""How do other published systems find candidates? By agreement, by random projection, by queries."""
