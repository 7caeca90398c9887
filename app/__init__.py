"""The workbench: command line, screens, and the engine that both use."""
