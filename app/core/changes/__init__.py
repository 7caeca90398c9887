"""Changes of settings: planned, journalled, applied, verified, tried and undone."""
