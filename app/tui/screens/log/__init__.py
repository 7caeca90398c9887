"""The Log screen."""
