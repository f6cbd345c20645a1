"""What hangs together? Verified pairs into clusters."""
