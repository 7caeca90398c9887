"""The Sweep screen."""
