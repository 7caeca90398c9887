"""What was measured before: all runs of all sessions, what changed among them, and named baselines."""
