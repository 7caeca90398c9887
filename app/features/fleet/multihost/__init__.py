"""One run on many hosts at the same time: what is said between them, whose time counts, and what all did together."""
