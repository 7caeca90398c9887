"""The rack as storcli 7 tells it: command lines in, JSON or text out."""
