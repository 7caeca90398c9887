"""The runs of all sessions: an index, the scatter of repeats, and each condition as a time series."""
