"""The texts of the program as golden files: a change of code that is no change of text leaves them alone."""
