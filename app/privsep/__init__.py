"""The root helper: a root process with a fixed set of requests (verbs), for a raidbench that runs as a user."""
