"""The Runs screen."""
