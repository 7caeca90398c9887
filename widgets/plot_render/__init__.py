"""Static plots: their data, and functions that paint them as rows of text with plotext."""
