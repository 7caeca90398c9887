"""The command line: one file per group of commands, each imported when it is used."""
