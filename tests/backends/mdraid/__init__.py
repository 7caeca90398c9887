"""The md backend."""
