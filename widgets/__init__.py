"""Reusable Textual widgets that do not depend on anything about storage."""
