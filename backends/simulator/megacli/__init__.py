"""Simulated MegaCli 8.07: command lines in, text out."""
