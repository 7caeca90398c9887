"""What runs show next to each other: statistics, verdicts, and what speaks against them."""
