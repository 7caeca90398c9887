"""Helpers for text and numbers. This package imports nothing, so everything may use it."""
