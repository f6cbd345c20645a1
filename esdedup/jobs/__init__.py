"""What does a verb do? Loading, scanning, updating, asking, rewriting; workers, progress, memory."""
