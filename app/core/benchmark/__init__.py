"""Measuring: from what somebody asked for to a run on disk."""
