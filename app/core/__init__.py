"""The workbench without a terminal: sessions, settings, changes, benchmarks and their presentation."""
