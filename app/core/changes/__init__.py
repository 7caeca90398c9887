"""Changes of settings: plan, journal, apply, verify, try and undo."""
