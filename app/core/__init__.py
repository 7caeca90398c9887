"""The workbench without a user interface: sessions, settings, changes, benchmarks and their presentation."""
