"""Static plots: their data, and their painting by plotext as rows of text."""
