"""The devices below the one under test."""
