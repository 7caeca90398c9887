"""The helper that does what needs root."""
