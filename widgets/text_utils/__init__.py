"""Helpers for text and numbers. This package imports no other package of raidbench, so all of them may use it."""
