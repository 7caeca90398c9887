"""The runs of all sessions: an index of them, how far repeats lay apart, and each condition as a series in time."""
