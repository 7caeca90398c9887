"""Simulated storcli 7: a parser for its command lines, and its JSON output."""
