"""The runs of all sessions: their index, the scatter of repeats, and a time series for each condition."""
