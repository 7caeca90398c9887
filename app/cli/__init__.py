"""The command line. Each group of commands is one module, which is imported when a command is used."""
