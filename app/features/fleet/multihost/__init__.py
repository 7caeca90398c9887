"""One run on many hosts at the same moment: its protocol, its common interval, and its combined results."""
