"""Tests of the widgets, driven by a pilot."""
