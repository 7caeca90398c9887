"""Counts of unclear phrases in the project's prose, with a ceiling for each kind of text."""
