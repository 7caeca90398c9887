"""What pictures are of, and their data, from sessions."""
