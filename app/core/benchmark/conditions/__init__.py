"""Conditions of a run: facts about its targets and host, collected before the run and extended by its samples."""
