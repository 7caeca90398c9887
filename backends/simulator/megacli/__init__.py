"""Simulated MegaCli 8.07: a parser for its command lines, and its output."""
