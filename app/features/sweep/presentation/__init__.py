"""Sweeps as text, tables and JSON."""
