"""The root helper: executes a fixed set of verbs that need root, for a raidbench that runs as a user."""
