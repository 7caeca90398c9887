"""The command line: one module per group of commands, each imported when the command is used."""
