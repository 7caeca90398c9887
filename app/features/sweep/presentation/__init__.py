"""Sweeps in words, tables and JSON."""
