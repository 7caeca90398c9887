"""One run on many hosts at the same time: its protocol, its common interval and its combined results."""
