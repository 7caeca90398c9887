"""The Bench screen."""
