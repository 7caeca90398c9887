"""Many hosts, read: names, the fan-out over ssh, why one is missing, what is equal and what is not."""
