"""What makes a benchmark worthless."""
