"""The conditions of a run: what is known of its targets and host beforehand, and what its samples add."""
