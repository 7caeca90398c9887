"""What a session says on paper."""
