"""The runs of one condition over all sessions."""
