"""Changing settings: planned, journalled, applied, verified, tried, taken back."""
