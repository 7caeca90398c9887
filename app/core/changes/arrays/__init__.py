"""Arrays made for a measurement."""
