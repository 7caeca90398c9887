"""Explore: pictures of results in the TUI."""
