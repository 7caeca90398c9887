"""Command lines and parsers for arcconf, for series 2 to 8 and SmartRAID."""
