"""The Devices screen."""
