"""The root helper: executes a closed table of verbs that need root, for a raidbench that runs as a user."""
