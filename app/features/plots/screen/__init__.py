"""Explore: pictures of what was measured."""
