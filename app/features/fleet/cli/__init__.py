"""The `hosts` command, and `--hosts` for the commands of the core."""
