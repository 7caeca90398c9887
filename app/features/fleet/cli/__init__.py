"""The `hosts` command, and the `--hosts` option of other commands."""
