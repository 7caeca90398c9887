"""Reusable Textual widgets without any knowledge of storage."""
