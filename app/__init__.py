"""The workbench: command line, screens and the engine under both."""
