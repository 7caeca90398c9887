"""The local machine for an ordinary user, with a root helper for privileged operations."""
