"""The command `hosts`, and `--hosts` of the commands of the core."""
