"""The helper: what needs root, by a closed table of verbs, for a raidbench that runs as a user."""
