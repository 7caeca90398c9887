"""The machines of `--demo`, each a rack made as new."""
