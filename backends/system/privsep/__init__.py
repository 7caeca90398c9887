"""This machine, where a helper that runs as root does what its user may not."""
