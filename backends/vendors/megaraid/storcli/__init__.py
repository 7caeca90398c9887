"""storcli and perccli, version 7 and version 8, as dialects."""
