"""Recorded machines, and how they were made."""
