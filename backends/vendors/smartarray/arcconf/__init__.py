"""What arcconf says and is told, of series 2 to 8 and of SmartRAID."""
