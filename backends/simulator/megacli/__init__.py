"""The rack as MegaCli 8.07 tells it: command lines in, text out."""
