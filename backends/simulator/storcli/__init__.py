"""Simulated storcli 7: command lines in, JSON out."""
